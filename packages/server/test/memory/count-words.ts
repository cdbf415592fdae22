// The words of a short text, which need no turns of the event loop.
import { atOnce } from '../../src/kernel/step-turns.ts'
import { countSteps, type Counted } from '../../src/memory/index/terms.ts'

export const countWords = (title: string, content: string): Counted => atOnce(countSteps(title, content))
