// Compiles an expression to a tree of closures, which is run for each event. The kinds of nodes are compiled in
// code-values.ts, code-operators.ts and code-calls.ts.
import type { Node } from './ast.ts'
import { constant, type Build, type Code, type Environment, type Scope } from './build.ts'
import { callCode, comprehensionCode } from './code-calls.ts'
import { binaryCode, logicCode, ternaryCode, unaryCode } from './code-operators.ts'
import { bindCode, hasCode, indexCode, listCode, mapCode, nameCode, optMapCode, selectCode } from './code-values.ts'
import { parse } from './parser.ts'

interface Compiled extends Code {
  /** Places needed in `Context.vars`. */
  readonly variableCount: number
  /** The estimated memory in bytes. */
  readonly bytes: number
  readonly compileSteps: number
}

/** For closures, the values they capture and their error messages: measured, 4 to 93 bytes a character of source. */
const BYTES_PER_CHAR = 100
const BYTES_ALWAYS = 2000
/** Compiling takes 1 to 14 ns a byte, and a step is 10. Classes of regular expressions take 80 a character besides. */
const COMPILE_STEPS_PER_CHARACTER = 8

/** Compiles source to a tree of closures, or throws a CelSyntaxError. */
export function generate(source: string, environment: Environment): Compiled {
  const roots: ReadonlyMap<string, number> = new Map(environment.variables.map((name, index) => [name, index]))
  const build: Build = {
    source,
    environment,
    roots,
    fallback: environment.fallback == null ? undefined : roots.get(environment.fallback),
    variableCount: roots.size,
    patternBytes: 0,
    classCharacters: 0,
    code: (node, scope) => code(build, node, scope),
  }
  const root = build.code(parse(source), { indexes: roots, depth: 0 })
  const bytes = BYTES_ALWAYS + source.length * BYTES_PER_CHAR + build.patternBytes
  const compileSteps = bytes + build.classCharacters * COMPILE_STEPS_PER_CHARACTER
  return { ...root, variableCount: build.variableCount, bytes, compileSteps }
}

function code(build: Build, node: Node, scope: Scope): Code {
  switch (node.kind) {
    case 'literal':
      return constant(node.value)
    case 'name':
      return nameCode(build, node, scope)
    case 'select':
      return selectCode(build, node, scope)
    case 'index':
      return indexCode(build, node, scope)
    case 'has':
      return hasCode(build, node, scope)
    case 'call':
      return callCode(build, node, scope)
    case 'list':
      return listCode(build, node, scope)
    case 'map':
      return mapCode(build, node, scope)
    case 'unary':
      return unaryCode(build, node, scope)
    case 'binary':
      return binaryCode(build, node, scope)
    case 'logic':
      return logicCode(build, node, scope)
    case 'ternary':
      return ternaryCode(build, node, scope)
    case 'comprehension':
      return comprehensionCode(build, node, scope)
    case 'bind':
      return bindCode(build, node, scope)
    case 'optMap':
      return optMapCode(build, node, scope)
  }
}
