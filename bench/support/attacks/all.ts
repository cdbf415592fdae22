// Attacks: what a client without a key, or with an ordinary key of another tenant, sends to slow others down.
import type { Attack } from './attack.ts'
import { ON_EVENTS } from './on-events.ts'
import { ON_MEMORIES } from './on-memories.ts'
import { ON_RESPONSES } from './on-responses.ts'
import { WITHOUT_KEY } from './without-key.ts'

export const ATTACKS: Readonly<Record<string, Attack>> = {
  ...WITHOUT_KEY,
  ...ON_RESPONSES,
  ...ON_EVENTS,
  ...ON_MEMORIES,
}
