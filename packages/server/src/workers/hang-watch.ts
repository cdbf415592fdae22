// Notices a worker that hangs without ending: it was stopped, or its event loop never comes round. The primary goes on
// waiting for it to take the connection that it was handed, and the clients of its other connections wait too.
//
// Looks are counted, not time. While the machine sleeps, or this process is kept from running, a worker cannot answer
// either, and that counts as one look. A worker is watched from when it listens: a start may take as long as it needs.

export const LOOK_EVERY_MS = 5_000
/** 30 seconds. The longest turns of a healthy worker, a garbage collection of a large heap, take a second or two. */
const MAX_UNANSWERED = 6

interface HangWatch<Worker> {
  begin(worker: Worker): void
  /** Whatever a worker says, it lives. */
  hear(worker: Worker): void
  end(worker: Worker): void
  /** Pings those that owe no answer, and reports those that have owed one for too long. */
  look(): void
}

export function makeHangWatch<Worker>(
  ping: (worker: Worker) => void,
  hangs: (worker: Worker) => void,
): HangWatch<Worker> {
  /** For how many looks each worker owes an answer. */
  const unanswered = new Map<Worker, number>()
  return {
    begin: (worker) => void unanswered.set(worker, 0),
    hear: (worker) => void (unanswered.has(worker) && unanswered.set(worker, 0)),
    end: (worker) => void unanswered.delete(worker),
    look() {
      for (const [worker, looks] of unanswered) {
        if (looks === MAX_UNANSWERED) {
          unanswered.delete(worker)
          hangs(worker)
          continue
        }
        // One at a time: nobody empties the pipe to a process that is stopped.
        if (looks === 0) ping(worker)
        unanswered.set(worker, looks + 1)
      }
    },
  }
}
