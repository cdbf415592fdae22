// What the exit code of a command says. docs/command-line.md has the same table.

export const EXIT = {
  ok: 0,
  /** Refused or failed: the message says why. */
  failed: 1,
  /** The command line means nothing, or another tool does this. */
  usage: 2,
  /** Not signed in, or the key may not do this. */
  refused: 3,
  notFound: 4,
  /** Nobody responds, or not now: the same command may work later. */
  unavailable: 5,
  /** Ended by Ctrl-C, as shells have it: 128 and the number of the signal. */
  interrupted: 130,
  /** Whoever read the output went away, as shells have it for a broken pipe. */
  outputClosed: 141,
} as const

const BY_CODE: Readonly<Record<string, number>> = {
  authentication_failed: EXIT.refused,
  insufficient_scope: EXIT.refused,
  not_found: EXIT.notFound,
  rate_limited: EXIT.unavailable,
  service_unavailable: EXIT.unavailable,
}

/** The exit code for an error code of the API. */
export const exitCodeFor = (code: string): number => BY_CODE[code] ?? EXIT.failed
