// Prepares what an operator's command receives: the configuration of the service, and its store.
import path from 'node:path'
import { text } from 'node:stream/consumers'
import type { Operation } from '@sensorium/contract'
import { readConfig, type Config } from '../../config.ts'
import { systemClock } from '../../kernel/clock.ts'
import { ruleBroken } from '../../kernel/failure.ts'
import { idMaker } from '../../kernel/ids.ts'
import { OPERATOR, type Input } from '../../operations/call.ts'
import { resultOf } from '../../operations/response.ts'
import { openBesideService, type Opened } from '../../store/open.ts'
import type { ParsedInput, OperatorInvocation } from '../command.ts'
import { originOf } from './ingest-options.ts'

async function open(settings: Config): Promise<Opened> {
  const opened = await openBesideService(settings, systemClock)
  if (opened) return opened
  throw ruleBroken(
    'no_store',
    `There is no store in ${path.resolve(settings.dataDir)}. Set DATA_DIR or DATABASE_URL as the service has it; \`sensorium start\` makes a store`,
  )
}

export function operatorInvocation(parsed: ParsedInput, env: NodeJS.ProcessEnv): OperatorInvocation {
  const config: OperatorInvocation['config'] = () => readConfig(env)

  const call: OperatorInvocation['call'] = async <O extends Operation>(operation: O, input: Input) => {
    const settings = config()
    const { store, secrets } = await open(settings)
    try {
      // Imported only here: it loads every feature, which takes most of a command's start-up time.
      const { makeOperatorOperations } = await import('../../operations/make-operator-operations.ts')
      const { perform } = makeOperatorOperations(store, secrets, systemClock, settings)
      return resultOf<O>(await perform(OPERATOR, operation, input, { origin: originOf(settings) }))
    } finally {
      await store.close()
    }
  }

  const withStore: OperatorInvocation['withStore'] = async (work) => {
    const { store, secrets } = await open(config())
    try {
      return await work(store, { makeId: idMaker(systemClock.now), secrets, now: systemClock.now })
    } finally {
      await store.close()
    }
  }

  const secret: OperatorInvocation['secret'] = async (option, variable) => {
    const value = parsed.options[option] ?? (env[variable] || undefined)
    return value === '-' ? (await text(process.stdin)).trim() : value
  }
  return { ...parsed, clock: systemClock, config, secret, call, withStore }
}
