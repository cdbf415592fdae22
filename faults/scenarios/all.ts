import type { Scenario } from '../scenario.ts'
import { crashTheDatabase, cutTheWire, failOver, freezeTheDatabase, takeAllConnections } from './database.ts'
import { fillTheDisk } from './fill-the-disk.ts'
import { hangFarEnds } from './hang-far-ends.ts'
import { killANode } from './kill-a-node.ts'
import { stepTheClock } from './step-the-clock.ts'

export const SCENARIOS: readonly Scenario[] = [
  killANode,
  crashTheDatabase,
  freezeTheDatabase,
  cutTheWire,
  takeAllConnections,
  failOver,
  hangFarEnds,
  fillTheDisk,
  stepTheClock,
]
