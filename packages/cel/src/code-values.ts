import { elementAt, readField, readVariable, readVariableField, testField } from './access.ts'
import type { Node } from './ast.ts'
import { binaryCall, fold, reject, total, type Build, type Code, type Scope } from './build.ts'
import { fail, FAULT, keyOf, typeWord, type Key, type Run, type Value } from './values.ts'

// Names, fields, elements, and the lists and maps that an expression writes out.

export function nameCode(build: Build, { name, absolute, at }: Node & { kind: 'name' }, scope: Scope): Code {
  const place = (absolute ? build.roots : scope.places).get(name)
  if (place !== undefined) return { run: readVariable(place, name), steps: 1 }
  if (build.fallback !== undefined) return { run: readVariableField(build.fallback, name), steps: 1 }
  const known = build.environment.variables.join(', ')
  return reject(build, at, `unknown name '${name}', which is none of ${known}`)
}

export function selectCode(build: Build, { object, field }: Node & { kind: 'select' }, scope: Scope): Code {
  if (object.kind === 'name') {
    const place = (object.absolute ? build.roots : scope.places).get(object.name)
    // A mapping's variables may be absent altogether, and then it is the variable that the message has to name.
    if (place !== undefined && (build.fallback !== undefined || place >= build.roots.size)) {
      return { run: readVariableField(place, field), steps: 2 }
    }
  }
  const from = build.code(object, scope)
  return { run: readField(from.run, field), steps: total([from]) }
}

export function indexCode(build: Build, node: Node & { kind: 'index' }, scope: Scope): Code {
  const object = build.code(node.object, scope)
  const key = build.code(node.key, scope)
  const steps = total([object, key])
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
  if (build.fallback === undefined || scope.places.has(field)) {
    return reject(build, at, 'has() takes one field, such as has(data.amount)')
  }
  return { run: testField(readVariable(build.fallback, build.environment.fallback as string), field), steps: 2 }
}

export function listCode(build: Build, { items }: Node & { kind: 'list' }, scope: Scope): Code {
  const codes = items.map((item) => build.code(item, scope))
  const runs = codes.map(({ run }) => run)
  const run: Run = (c) => {
    const made: Value[] = []
    for (let i = 0; i < runs.length; i++) {
      const value = (runs[i] as Run)(c)
      if (value === FAULT) return FAULT
      made.push(value)
    }
    return made
  }
  return fold(run, codes)
}

export function mapCode(build: Build, { entries }: Node & { kind: 'map' }, scope: Scope): Code {
  const codes = entries.flat().map((part) => build.code(part, scope))
  const runs = codes.map(({ run }) => run)
  const run: Run = (c) => {
    const made = new Map<Key, Value>()
    for (let i = 0; i < runs.length; i += 2) {
      const written = (runs[i] as Run)(c)
      const value = written === FAULT ? FAULT : (runs[i + 1] as Run)(c)
      if (written === FAULT || value === FAULT) return FAULT
      const type = typeWord(written)
      const key = type === 'double' ? undefined : keyOf(written)
      if (key === undefined) return fail(c, `${type} cannot be a key of a map`)
      if (made.has(key)) return fail(c, `key ${String(key)} stands twice in a map`)
      made.set(key, value)
    }
    return made
  }
  return fold(run, codes)
}
