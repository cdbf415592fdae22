// Sample bodies to start from, as the providers send them, shortened.

interface SampleText {
  body: string
  headers: string
}

const json = (value: unknown): string => JSON.stringify(value, null, 2)

export const SAMPLES: Record<'own' | 'github' | 'stripe' | 'standard', SampleText> = {
  own: { body: json({ entity: 'order', action: 'created', id: 'o-1', total: 40 }), headers: '' },
  github: {
    body: json({
      action: 'opened',
      issue: { number: 7, title: 'The pump is loud' },
      repository: { full_name: 'acme/plant' },
      sender: { login: 'ada' },
    }),
    headers: 'x-github-event: issues\nx-github-delivery: sample-1',
  },
  stripe: {
    body: json({
      id: 'evt_sample_1',
      type: 'customer.subscription.created',
      data: { object: { object: 'subscription', id: 'sub_1', status: 'active' } },
    }),
    headers: '',
  },
  standard: {
    body: json({
      type: 'invoice.paid',
      timestamp: '2030-01-31T12:00:00Z',
      data: { id: 'inv_1', total: 40 },
    }),
    headers: 'webhook-id: msg_sample_1',
  },
}
