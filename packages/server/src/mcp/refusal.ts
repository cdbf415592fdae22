// An error of the catalogue, thrown in this process or received over HTTP.

interface Refusal {
  code: string
  message: string
  details: unknown
}

export const isRefusal = (error: unknown): error is Refusal =>
  error instanceof Error && 'code' in error && 'details' in error

/**
 * Adds to a refusal what the model can do about it. Hints are found by the rule that was broken, the type of what was
 * not found, or else the code.
 */
export function hinted(hints: Readonly<Record<string, string>>): (error: unknown) => never {
  return (error) => {
    if (!isRefusal(error)) throw error
    const { code, message, details } = error
    const { rule, resource_type } = details as { rule?: string; resource_type?: string }
    const hint = hints[rule ?? resource_type ?? code]
    if (hint === undefined) throw error
    throw Object.assign(new Error(`${message}: ${hint}`), { code, details })
  }
}
