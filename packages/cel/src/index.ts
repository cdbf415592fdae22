// What other packages use: filters are compiled by `compile`, mappings by `compileExpression`.
export type { Environment } from './build.ts'
export { CelError, CelSyntaxError } from './errors.ts'
export { compileExpression, type Expression } from './expression.ts'
// For other code that searches untrusted text for an untrusted string.
export { indexOfLinear } from './index-of.ts'
export { describeValue, toJson } from './json.ts'
export { compile, ERROR, OVER_BUDGET, type Budget, type Program } from './program.ts'
export { STEP_BUDGET, type Value } from './values.ts'
