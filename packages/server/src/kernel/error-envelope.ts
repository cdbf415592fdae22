// The body in which every error is shown: of a response, of an event in a batch, of a command with --json. It has a
// file of its own because commands that call a service do not load the contract, which a Failure needs.

export interface ErrorEnvelope {
  error: { code: string; message: string; request_id: string; details: Readonly<Record<string, unknown>> }
}

export const envelopeOf = (
  { code, message, details }: Omit<ErrorEnvelope['error'], 'request_id'>,
  request_id: string,
): ErrorEnvelope => ({ error: { code, message, request_id, details } })
