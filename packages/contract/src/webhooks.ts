// Schemas of webhooks, as the operator registers them and as they are shown.
import { Type, type Static, dateTime, id, oneOf, text } from './shapes.ts'

export const SOURCE = '^[a-z0-9][a-z0-9_-]{0,62}$'

export const source = Type.String({
  pattern: SOURCE,
  description: 'The name of the source, used in the event types: `com.<source>.…`.',
  expected: '1 to 63 lower-case letters, digits, hyphens and underscores, beginning with a letter or digit',
  examples: ['shop'],
})

const expression = (example: string) =>
  Type.Optional(
    text(4096, { minLength: 1, expected: 'a CEL expression of at most 4096 characters', examples: [example] }),
  )

export const IngestMapping = Type.Object(
  {
    entity: expression('body.entity'),
    action: expression('body.action'),
    id: expression('body.id'),
    subject: expression('entity + "/" + id'),
    data: expression('body'),
  },
  {
    $id: 'IngestMapping',
    description:
      'CEL expressions over `body` and `headers` (names in lower case). `subject` can also use `entity`, `action` and `id`, and `data` ' +
      'can use `compact`, the short block that a preset makes of the body. ' +
      'The default of each expression is shown as its example.',
    examples: [{ entity: 'body.entity', action: 'body.action' }],
  },
)
export type IngestMapping = Static<typeof IngestMapping>

export const PRESETS = ['github', 'stripe', 'standard'] as const
export type PresetName = (typeof PRESETS)[number]

export const preset = oneOf(PRESETS, {
  description:
    'The mapping and the signature header of a well-known provider, or of any that follows Standard Webhooks (`standard`).',
})

export const Webhook = Type.Object(
  {
    id: id('whk'),
    tenant: Type.String({ examples: ['acme'] }),
    source: Type.String({ examples: ['shop'] }),
    mapping: IngestMapping,
    preset: Type.Optional(preset),
    url: Type.String({
      description: 'The URL that providers post to. All webhooks of the tenant share it.',
      examples: ['https://events.example.com/ingest/w/acme'],
    }),
    own_url: Type.String({
      description:
        'The URL of this webhook alone. Only the secrets of this webhook are tried, whatever the size of the body.',
      examples: ['https://events.example.com/ingest/w/acme/whk_01jd8x3m5q7r9t1v3x5z7b9d1f'],
    }),
    active: Type.Boolean(),
    created_at: dateTime(),
  },
  { $id: 'Webhook' },
)
export type Webhook = Static<typeof Webhook>

// The secret that the sender signs with: ourselves, or a provider that makes its own. The whole text is the key,
// whatever its prefix.
export const givenSecret = Type.Optional(
  Type.String({
    minLength: 16,
    maxLength: 255,
    pattern: '^[\\x21-\\x7e]*$',
    description:
      'The secret of a provider that creates its own, such as Stripe. If it is left out, a secret is generated.',
    expected: '16 to 255 printable characters without spaces',
    examples: ['whsec_0123456789abcdef'],
  }),
)
export const signingSecret = Type.String({
  description: 'The signing secret. It is shown only in this response.',
  examples: ['whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'],
})

export const WebhookCreated = Type.Object(
  {
    webhook: Webhook,
    url: Type.String({ examples: ['https://events.example.com/ingest/w/acme'] }),
    signing_secret: signingSecret,
  },
  { $id: 'WebhookCreated' },
)
export const WebhookList = Type.Object({ webhooks: Type.Array(Webhook), total: Type.Integer() }, { $id: 'WebhookList' })
export const WebhookRotated = Type.Object(
  { webhook: Webhook, signing_secret: signingSecret },
  { $id: 'WebhookRotated' },
)
