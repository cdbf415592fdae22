// What a handler answers. The door turns it into a response and, where a key was sent, into a record.

export interface Answer {
  status: number
  /** The body, as a value. Undefined sends none. */
  json?: unknown
  /** The body as JSON text that is ready to go out, where building the value again would cost. */
  text?: string
  headers?: Record<string, string>
  /** What was made, for `existing_resource_id` of a later conflict. */
  resourceId?: string
  /** The body shows a secret once: its record is encrypted. */
  secret?: boolean
}

export const ok = (json: unknown): Answer => ({ status: 200, json })

export const created = (json: { id: string }): Answer => ({ status: 201, json, resourceId: json.id })

export const noContent = (): Answer => ({ status: 204 })
