// A worker that serves nobody: it joins the primary and says that it listens.
import { joinPrimary } from '../../src/workers/worker.ts'

joinPrimary()!.ready('http://nowhere')
