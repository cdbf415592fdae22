// An error of the catalogue, thrown in this process or received over HTTP.

export interface Refusal {
  code: string
  message: string
  details: unknown
}

export const isRefusal = (error: unknown): error is Refusal =>
  error instanceof Error && 'code' in error && 'details' in error
