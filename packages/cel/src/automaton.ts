// Searches a text with the automaton that RE2 builds for a pattern, character by character, and pays for each step.
//
// RE2's own loop cannot be used. The cost of a character differs by a factor of a thousand between patterns and texts
// (a known state costs a lookup, a new one the whole pattern), RE2 does not report which it was, and when its memory is
// full it falls back to a slower method. Priced for the worst case, an ordinary pattern could read 20 characters;
// priced for the usual case, a hostile pattern took a hundred times what it paid.
//
// 1. The price depends on the pattern and the texts alone. A transition that this evaluation has not used yet counts as
//    new, even if an earlier evaluation cached it: whether an event matches must not depend on earlier events.
// 2. New transitions are free up to a small number, which is more than most patterns ever need. So an ordinary pattern
//    costs a step a character, and a pattern that keeps making states soon pays what they cost.
// 3. States are cached up to a number of bytes. An evaluation that meets more than half of that drops all states and
// goes
//    on; an evaluation that begins with more than half cached drops them first. So when states are dropped depends on
//    this evaluation alone as well.
import type { RE2Set } from 're2js'
import { type FAULT, overBudget, type Context } from './values.ts'

/** A state of RE2's automaton. */
interface State {
  readonly nfaStates: readonly number[]
  readonly isMatch: boolean
  readonly next: readonly (State | null)[] | null
  /** For each class of characters, the last evaluation that used this transition. */
  used?: Int32Array
  /** The last evaluation that met this state. */
  round?: number
}

/** RE2's flags for the position before the first character: the beginning of the text and of a line. */
const START_OF_TEXT = 0b101
const END_OF_TEXT = -1
const UNANCHORED = 0

/** Measured: a character with a known transition takes 5 to 10 ns, a new state 150 to 300 ns for each instruction. */
const STEPS_PER_INSTRUCTION = 20
/** Instructions in new states that are free, for one evaluation and one pattern: 75 microseconds at worst. */
const FREE_INSTRUCTIONS = 256

/** The least capacity for states, in bytes. An ordinary pattern has 5 to 50 states of 300 to 600 bytes. */
const KEPT_STATES = 32 * 1024

export class Automaton {
  /** The most memory that it can take. */
  readonly bytes: number
  readonly #dfa: RE2Set['dfa']
  readonly #prog: RE2Set['prog']
  /** The number of character classes that the pattern distinguishes. */
  readonly #classes: number
  readonly #capacity: number
  #start: State | null = null
  /** Bytes of all cached states. */
  #held = 0
  /** The current evaluation, the bytes of the states that it met, and the instructions that were new to it. */
  #round = -1
  #met = 0
  #explored = 0

  /** `set` is compiled and holds one pattern. The automaton takes ownership of it. */
  constructor(set: RE2Set) {
    const { dfa, prog } = set
    // A pattern with look-behind has no such automaton. The flag that allows look-behind is never set here.
    if (dfa.failed) throw new Error('this pattern cannot be searched for in linear time')
    // The parsed pattern is no longer needed. With many repetitions it is most of the memory.
    set.regexps = []
    dfa.memBudget = Infinity
    dfa.stateBudget = Infinity
    this.#dfa = dfa
    this.#prog = prog
    this.#classes = dfa.numClasses
    this.#capacity = Math.max(KEPT_STATES, 4 * this.#stateBytes(prog.numInst()))
    this.bytes = 4000 + 200 * prog.numInst() + 24 * this.#classes + this.#capacity
  }

  /** Reports whether the pattern matches anywhere in the text. */
  search(c: Context, text: string): boolean | typeof FAULT {
    if (this.#round !== c.round) this.#begin(c.round)
    const round = c.round
    const dfa = this.#dfa
    const { latin1Class } = dfa
    this.#start ??= dfa.makeState([this.#prog.start], START_OF_TEXT, []) as State
    let state = this.#start
    const { length } = text
    for (let i = 0; i < length; i++) {
      if (--c.stepsLeft < 0) return overBudget(c)
      let rune = text.charCodeAt(i)
      let cls: number
      if (rune <= 0xff) cls = latin1Class[rune] as number
      else {
        if ((rune & 0xfc00) === 0xd800) rune = text.codePointAt(i) as number
        if (rune > 0xffff) i++
        cls = dfa.runeClass(rune)
      }
      if (state.round === round && (state.used as Int32Array)[cls] === round) {
        state = (state.next as State[])[cls] as State
      } else {
        const next = this.#explore(c, state, cls, rune)
        if (next === null) return overBudget(c)
        state = next
      }
      if (state.isMatch) return true
    }
    const last = this.#explore(c, state, this.#classes, END_OF_TEXT)
    return last === null ? overBudget(c) : last.isMatch
  }

  #begin(round: number): void {
    this.#round = round
    this.#met = 0
    this.#explored = 0
    if (this.#held > this.#capacity / 2) this.#forget()
  }

  #forget(): void {
    this.#dfa.clearCache()
    this.#held = 0
    this.#start = null
  }

  #stateBytes(instructions: number): number {
    return 300 + 8 * instructions + 12 * (this.#classes + 1)
  }

  /** Takes a transition that is new to this evaluation. Returns null if it cannot be paid for. */
  #explore(c: Context, from: State, cls: number, rune: number): State | null {
    const state = from.round === this.#round ? from : this.#meet(from)
    if (!this.#pay(c, 1 + state.nfaStates.length)) return null
    ;(state.used as Int32Array)[cls] = this.#round
    const next = (state.next?.[cls] ?? this.#dfa.step(state, cls, rune, UNANCHORED)) as State
    return this.#pay(c, next.nfaStates.length) ? next : null
  }

  /** Counts a state that this evaluation meets for the first time. May drop the cached states to make room. */
  #meet(from: State): State {
    let state = from
    const bytes = this.#stateBytes(state.nfaStates.length)
    this.#met += bytes
    if (this.#met > this.#capacity / 2) {
      this.#forget()
      state = this.#dfa.resetCache(state) as State
      this.#met = bytes
    }
    if (state.used === undefined) {
      this.#held += bytes
      state.used = new Int32Array(this.#classes + 1)
    }
    state.round = this.#round
    return state
  }

  #pay(c: Context, instructions: number): boolean {
    this.#explored += instructions
    if (this.#explored > FREE_INSTRUCTIONS) c.stepsLeft -= instructions * STEPS_PER_INSTRUCTION
    return c.stepsLeft >= 0
  }
}
