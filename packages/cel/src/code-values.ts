// Compiles names, fields, elements, and list and map literals.
import {
  elementAt,
  optionalElement,
  optionalField,
  readField,
  readVariable,
  readVariableField,
  testField,
} from './access.ts'
import type { Entry, Node } from './ast.ts'
import { binaryCall, constant, fold, reject, total, withVariable, type Build, type Code, type Scope } from './build.ts'
import { quote } from './errors.ts'
import {
  fail,
  FAULT,
  keyOf,
  NONE,
  Optional,
  TYPE_NAMES,
  TypeValue,
  typeWord,
  valueOfKey,
  type Key,
  type Run,
  type Value,
} from './values.ts'

export function nameCode(build: Build, { name, absolute, at }: Node & { kind: 'name' }, scope: Scope): Code {
  const index = (absolute ? build.roots : scope.indexes).get(name)
  if (index !== undefined) return { run: readVariable(index, name), steps: 1 }
  if (build.fallback !== undefined) return { run: readVariableField(build.fallback, name), steps: 1 }
  // Without a fallback for other names, `int` can only mean the type.
  if (TYPE_NAMES.has(name)) return constant(new TypeValue(name))
  const known = build.environment.variables.join(', ')
  return reject(build, at, `unknown name '${name}', which is none of ${known}`)
}

export function selectCode(build: Build, node: Node & { kind: 'select' }, scope: Scope): Code {
  const { object, field, optional } = node
  if (optional) {
    const from = build.code(object, scope)
    const run: Run = (c) => {
      const value = from.run(c)
      return value === FAULT ? FAULT : optionalField(c, value, field)
    }
    return { run, steps: total([from]) }
  }
  if (object.kind === 'name') {
    const index = (object.absolute ? build.roots : scope.indexes).get(object.name)
    // The variables of a mapping may be absent, and then the error message must name the variable.
    if (index !== undefined && (build.fallback !== undefined || index >= build.roots.size)) {
      return { run: readVariableField(index, field), steps: 2 }
    }
  }
  const from = build.code(object, scope)
  return { run: readField(from.run, field), steps: total([from]) }
}

export function indexCode(build: Build, node: Node & { kind: 'index' }, scope: Scope): Code {
  const object = build.code(node.object, scope)
  const key = build.code(node.key, scope)
  const steps = total([object, key])
  if (node.optional) return { run: binaryCall(object.run, key.run, optionalElement), steps }
  if (typeof key.constant === 'string') {
    return { run: readField(object.run, key.constant, `no such key: ${JSON.stringify(key.constant)}`), steps }
  }
  return { run: binaryCall(object.run, key.run, elementAt), steps }
}

export function hasCode(build: Build, { object, field, at }: Node & { kind: 'has' }, scope: Scope): Code {
  if (object !== null) {
    const from = build.code(object, scope)
    return { run: testField(from.run, field), steps: total([from]) }
  }
  if (build.fallback === undefined || scope.indexes.has(field)) {
    return reject(build, at, 'has() takes one field, such as has(data.amount)')
  }
  return { run: testField(readVariable(build.fallback, build.environment.fallback as string), field), steps: 2 }
}

export function listCode(build: Build, { items }: Node & { kind: 'list' }, scope: Scope): Code {
  const codes = items.map(({ node }) => build.code(node, scope))
  const runs = codes.map(({ run }) => run)
  const optional = items.map((item) => item.optional)
  const run: Run = (c) => {
    const made: Value[] = []
    for (let i = 0; i < runs.length; i++) {
      const value = (runs[i] as Run)(c)
      if (value === FAULT) return FAULT
      if (optional[i] !== true) made.push(value)
      else if (!(value instanceof Optional)) return fail(c, `'?' needs an optional, not ${typeWord(value)}`)
      else if (value.held !== undefined) made.push(value.held)
    }
    return made
  }
  return fold(run, codes)
}

export function mapCode(build: Build, { entries }: Node & { kind: 'map' }, scope: Scope): Code {
  const keys = entries.map(({ key }) => build.code(key, scope))
  const values = entries.map(({ value }) => build.code(value, scope))
  const run: Run = (c) => {
    const made = new Map<Key, Value>()
    for (let i = 0; i < entries.length; i++) {
      const written = (keys[i] as Code).run(c)
      const value = written === FAULT ? FAULT : (values[i] as Code).run(c)
      if (written === FAULT || value === FAULT) return FAULT
      const type = typeWord(written)
      const key = type === 'double' ? undefined : keyOf(written)
      if (key === undefined) return fail(c, `${type} cannot be a key of a map`)
      if (made.has(key)) return fail(c, `key ${quote(String(valueOfKey(key)))} stands twice in a map`)
      if ((entries[i] as Entry).optional !== true) made.set(key, value)
      else if (!(value instanceof Optional)) return fail(c, `'?' needs an optional, not ${typeWord(value)}`)
      else if (value.held !== undefined) made.set(key, value.held)
    }
    return made
  }
  return fold(run, [...keys, ...values])
}

/** `cel.bind(name, value, body)`: the value is computed once. */
export function bindCode(build: Build, node: Node & { kind: 'bind' }, scope: Scope): Code {
  const value = build.code(node.value, scope)
  const [inner, index] = withVariable(build, scope, node.name)
  const body = build.code(node.body, inner)
  const run: Run = (c) => {
    const bound = value.run(c)
    if (bound === FAULT) return FAULT
    c.vars[index] = bound
    return body.run(c)
  }
  return { run, steps: total([value, body]) }
}

/** `optMap` and `optFlatMap`. */
export function optMapCode(build: Build, node: Node & { kind: 'optMap' }, scope: Scope): Code {
  const target = build.code(node.target, scope)
  const [inner, index] = withVariable(build, scope, node.name)
  const body = build.code(node.body, inner)
  const name = node.flat ? 'optFlatMap' : 'optMap'
  const run: Run = (c) => {
    const from = target.run(c)
    if (from === FAULT) return FAULT
    if (!(from instanceof Optional)) return fail(c, `${name}() needs an optional, not ${typeWord(from)}`)
    if (from.held === undefined) return NONE
    c.vars[index] = from.held
    const value = body.run(c)
    if (value === FAULT) return FAULT
    if (!node.flat) return new Optional(value)
    return value instanceof Optional ? value : fail(c, `${name}() needs an optional, not ${typeWord(value)}`)
  }
  return { run, steps: total([target, body]) }
}
