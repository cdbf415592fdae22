// An error of the catalogue, whichever side of the wire it was thrown on.

export interface Refusal {
  code: string
  message: string
  details: unknown
}

export const isRefusal = (error: unknown): error is Refusal =>
  error instanceof Error && 'code' in error && 'details' in error
