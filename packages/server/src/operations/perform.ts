// Carries out a call of any operation, for every transport. In this order: rate limit, scope, the body's arrival,
// idempotency, shape, handler. Everything that does not depend on the call is prepared once for each operation.
//
// 1. A call resolves with its response after its effect is on disk, or rejects with a Failure (or an outage of the
//    store).
// 2. The record of a response commits with its effect: see idempotency.ts.
import type { Operation } from '@sensorium/contract'
import type { Audit, AuditedCall } from '../audit/audit.ts'
import type { Principal } from '../auth/principal.ts'
import { Failure, invalid } from '../kernel/failure.ts'
import type { Db, Store } from '../store/db.ts'
import { makeAdmit, makeSubjectsOf, type Admit, type AdmitTools } from './admit.ts'
import type { Binding, Prepared } from './binding.ts'
import type { Call, CallOptions, Input, Payload } from './call.ts'
import { hashBody, type Idempotency } from './idempotency.ts'
import { makeReadTurns, type ReadTurn } from './read-turns.ts'
import { withRequestId } from './recorded-response.ts'
import { repeatableOf } from './repeatable.ts'
import { refused, type OperationResponse } from './response.ts'
import { unknownField } from './unknown-field.ts'
import { readQuery, type Check, type CompileCheck } from './validate.ts'
import type { RecordResponse } from './write-record.ts'

const MAX_KEY_LENGTH = 255
const NO_OPTIONS: CallOptions = {}

interface PerformTools extends AdmitTools {
  store: Store
  idempotency: Idempotency
  compileCheck: CompileCheck
  audit: Audit
}

/** Carries out one operation. */
type Run = (principal: Principal, input: Input, options: CallOptions) => Promise<OperationResponse>

export interface Operations {
  /** Carries out a call. */
  perform(principal: Principal, operation: Operation, input: Input, options?: CallOptions): Promise<OperationResponse>
  /** Returns the same for one operation, for a transport that knows the operation early. */
  runner(operation: Operation): Run
  /** Counts a request that is no single operation toward the caller's limits. Throws or rejects if one is used up. */
  admit: Admit
  /** All bound operations. */
  readonly bindings: readonly Pick<Binding, 'operation' | 'kind'>[]
}

export function makeOperations(bindings: readonly Binding[], tools: PerformTools): Operations {
  const subjectsOf = makeSubjectsOf(tools)
  const readTurn = makeReadTurns()
  const runners = new Map(
    bindings.map((binding) => [
      binding.operation.id,
      makeRun(binding, tools, makeAdmit(binding.operation, tools.limiter, subjectsOf), readTurn),
    ]),
  )
  function runner({ id }: Operation): Run {
    const run = runners.get(id)
    if (!run) throw new Error(`the operation ${id} is not bound`)
    return run
  }
  return {
    perform: (principal, operation, input, options = NO_OPTIONS) => runner(operation)(principal, input, options),
    runner,
    admit: makeAdmit({ access: { scope: 'any' } }, tools.limiter, subjectsOf),
    bindings,
  }
}

function idempotencyKey(operation: Operation, key: string | undefined): string | undefined {
  if (key === undefined || key === '' || operation.access.scope === 'public') return undefined
  if (operation.method !== 'POST' && operation.method !== 'PATCH') return undefined
  if ([...key].length <= MAX_KEY_LENGTH) return key
  throw invalid({
    field: 'Idempotency-Key',
    value: key,
    expected: `a string of at most ${MAX_KEY_LENGTH} characters`,
    example: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  })
}

/** Returns the path of the operation with its parameters filled in: the same however the caller spelt it. */
const resourceOf = ({ base, path }: Operation, params: Input['params']): string =>
  (base === 'v1' ? '/v1' : '') +
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params?.[name] ?? ''))

/** Wraps a body that a caller in the same process passed as a value. */
const valuePayload = (value: unknown, fromValue: (value: unknown) => unknown = (given) => given): Payload => ({
  isEmpty: value === undefined,
  hash: () => hashBody(JSON.stringify(value) ?? ''),
  read: () => fromValue(value),
})

/** Reads the query and the body, and refuses those of the wrong shape. */
function makeReadInput(operation: Operation, compileCheck: CompileCheck) {
  const takesBody = operation.body !== undefined
  const repeatable = repeatableOf(operation)
  const checkBody: Check | null =
    operation.body && !operation.checksBody ? compileCheck(operation.body, repeatable) : null
  const checkQuery: Check | null = operation.query ? compileCheck(operation.query) : null

  function query({ query: sent = {} }: Input): unknown {
    if (!operation.query || !checkQuery) return {}
    const read = readQuery(operation.query, sent)
    const wrong = checkQuery(read)
    if (!wrong) return read
    // The number of `0201` or of seventeen digits would be another text than the one that was sent.
    const text = sent[wrong.field]
    throw invalid(String(wrong.value) === text ? wrong : { ...wrong, value: text ?? wrong.value })
  }

  function body(payload: Payload, options: CallOptions): unknown {
    if (!takesBody) return undefined
    if (options.strict) options.strictApplied?.()
    if (!checkBody) return payload.read()
    if (operation.bodyOptional && payload.isEmpty) return {}
    const read = payload.read()
    return read instanceof Promise ? read.then((value) => checked(value, options)) : checked(read, options)
  }

  // An unknown field is reported first: it may be the misspelling of a field that is missing.
  function checked(value: unknown, { strict }: CallOptions): unknown {
    const wrong = (strict ? unknownField(operation.body!, value, repeatable) : null) ?? checkBody!(value)
    if (wrong) throw invalid(wrong)
    return value
  }

  return { query, body }
}

/** Rejects, because the client no longer waits for the response. */
const gone = (): Promise<never> => Promise.reject(new Error('the client went away'))

const auditedCall = (operation: Operation, { principal, params, body, options }: Call<never>): AuditedCall => ({
  operation,
  principal,
  params,
  body,
  requestId: options.requestId,
})

/** Stands for the record of a call without an idempotency key. */
const NO_RECORD = { reserve: async () => {}, withdraw: async () => true, stands: async () => true, earlier: null }

/**
 * For an operation that runs its own transactions: the audit entry is written once, in the first transaction that had
 * an effect, or with the record of the response. Progress says so, and a request that goes on from it writes no second.
 */
function withAudit(audit: Audit, audited: AuditedCall, record: RecordResponse | null): RecordResponse {
  let isWritten = (record?.earlier as { audited?: true } | null)?.audited === true
  let writtenIn: Db | null = null
  async function write(tx: Db, resourceId?: string): Promise<void> {
    if (isWritten) return
    await audit.write(tx, audited, audited.principal.tenantId, resourceId)
    writtenIn = tx
    tx.afterCommit(() => (isWritten = true))
  }
  async function recorded(tx: Db, response: OperationResponse): Promise<void> {
    if (!response.unchanged) await write(tx, response.resourceId)
    if (record) await record(tx, response)
  }
  const reserve = async (tx: Db, progress?: object): Promise<void> =>
    record?.reserve(tx, progress && (isWritten || writtenIn === tx) ? { ...progress, audited: true } : progress)
  return Object.assign(recorded, record ?? NO_RECORD, { begun: write, reserve })
}

/** Calls the handler of the operation: on a reader, in a transaction, or with transactions of its own. */
function makeInvoke(binding: Binding, { store, audit }: PerformTools, readTurn: ReadTurn) {
  const { operation } = binding

  return (call: Call<never>, record: RecordResponse | null): Promise<OperationResponse> => {
    if (binding.kind === 'read' || binding.kind === 'browse') {
      const { handle, kind } = binding
      const look = () => handle(call, store.readFor(call.principal, { mayBeStale: kind === 'browse' }))
      const turn = readTurn(call.principal.tenantId, call.principal.id)
      return turn === undefined ? look() : turn.then(() => (call.options.isClientGone?.() ? gone() : look()))
    }
    const audited = operation.audit && auditedCall(operation, call)
    if (binding.kind === 'own') return binding.handle(call, audited ? withAudit(audit, audited, record) : record)
    const inTx = async (tx: Db, run: Prepared['run']): Promise<OperationResponse> => {
      const tenantId = audited ? await audit.tenantOf(tx, audited) : null
      const response = await run(tx)
      if (audited && !response.unchanged) await audit.write(tx, audited, tenantId, response.resourceId)
      if (record) await record(tx, response)
      return response
    }
    const caller = call.principal
    if (binding.kind === 'write') return store.tx((tx) => inTx(tx, (db) => binding.handle(call, db)), { caller })
    return binding.handle(call).then(({ run, isBegun, ended }) => {
      const isLeft = !isBegun && call.options.isClientGone?.()
      return (isLeft ? gone() : store.tx((tx) => inTx(tx, run), { caller })).finally(() => ended?.())
    })
  }
}

/** A call that was admitted and whose body has arrived. */
interface Arrived {
  principal: Principal
  input: Input
  payload: Payload
  options: CallOptions
}

function makeRun(binding: Binding, tools: PerformTools, admit: ReturnType<typeof makeAdmit>, readTurn: ReadTurn): Run {
  const { operation } = binding
  const { idempotency } = tools
  const readInput = makeReadInput(operation, tools.compileCheck)
  const invoke = makeInvoke(binding, tools, readTurn)

  function handle(arrived: Arrived, record: RecordResponse | null): Promise<OperationResponse> {
    const { principal, input, payload, options } = arrived
    const query = readInput.query(input) as never
    const body = readInput.body(payload, options)
    const call: Call<never> = { principal, params: (input.params ?? {}) as never, query, body: body as never, options }
    if (!(body instanceof Promise)) return invoke(call, record)
    return body.then((value) => {
      call.body = value as never
      return invoke(call, record)
    })
  }

  async function once(key: string, arrived: Arrived): Promise<OperationResponse> {
    const { principal, input, payload } = arrived
    const request = {
      tenantId: principal.tenantId,
      principalId: principal.id,
      keyId: principal.keyId,
      method: operation.method,
      path: resourceOf(operation, input.params),
      key,
      bodyHash: await payload.hash(),
    }
    const response = await idempotency.runOnce(request, async (record) => {
      try {
        return await handle(arrived, record)
      } catch (error) {
        // A refusal that would come out the same again is recorded like any other response.
        if (error instanceof Failure && error.status < 500) return refused(error)
        throw error
      }
    })
    return response.replayed ? withRequestId(response, arrived.options.requestId) : response
  }

  async function carryOut(arrived: Arrived): Promise<OperationResponse> {
    const key = idempotencyKey(operation, arrived.options.idempotencyKey)
    const response = await (key === undefined ? handle(arrived, null) : once(key, arrived))
    if (response.failure) throw response.failure
    return response
  }

  function takeBody(principal: Principal, input: Input, options: CallOptions): Promise<OperationResponse> {
    const payload = input.payload ? input.payload() : valuePayload(input.body, binding.fromValue)
    return payload instanceof Promise
      ? payload.then((received) => carryOut({ principal, input, payload: received, options }))
      : carryOut({ principal, input, payload, options })
  }

  return (principal, input, options) => {
    try {
      const admitted = admit(principal, input, options)
      return admitted === undefined
        ? takeBody(principal, input, options)
        : admitted.then(() => takeBody(principal, input, options))
    } catch (error) {
      return Promise.reject(error)
    }
  }
}
