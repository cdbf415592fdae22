import { RELEASE } from '../../kernel/release.ts'
import type { LocalRun } from '../command.ts'

export const run: LocalRun = async () => ({ json: { version: RELEASE }, text: RELEASE })
