// Two lengths at which work is done another way, in bytes or in characters, whichever is at hand.

/** A longer text is read, parsed and sent alone, in turn: its cost shows beside that of others. */
export const SHORT_LENGTH = 32_768

/**
 * A body up to this long is made at once and sent as one text, with a Content-Length; a longer one is made in pieces
 * while it is sent. SQLite takes 10 ms of the event loop to read a megabyte that is not ASCII.
 */
export const WHOLE_LENGTH = 1_048_576
