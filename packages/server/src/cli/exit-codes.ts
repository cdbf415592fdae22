// The meaning of exit codes. docs/command-line.md has the same table.

export const EXIT = {
  ok: 0,
  /** Refused or failed: the message says why. */
  failed: 1,
  /** The command line is not valid, or another tool does this. */
  usage: 2,
  /** Not signed in, or the key may not do this. */
  refused: 3,
  notFound: 4,
  /** The service does not respond, or cannot at the moment: the same command may work later. */
  unavailable: 5,
  /** Ended by Ctrl-C. By the convention of shells: 128 plus the number of the signal. */
  interrupted: 130,
  /** The reader of the output is gone. By the convention of shells for a broken pipe. */
  outputClosed: 141,
} as const

const BY_CODE: Readonly<Record<string, number>> = {
  authentication_failed: EXIT.refused,
  insufficient_scope: EXIT.refused,
  not_found: EXIT.notFound,
  rate_limited: EXIT.unavailable,
  service_unavailable: EXIT.unavailable,
}

/** Returns the exit code for an error code of the API. */
export const exitCodeFor = (code: string): number => BY_CODE[code] ?? EXIT.failed
