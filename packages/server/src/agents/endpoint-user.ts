// The user and password in an agent's `delivery_endpoint`. In the store only they are sealed, inside the URL:
// `https://<v1.…>@host/path`. So SQL and the breakers still see where it leads. A URL that was stored before they were
// sealed has them as they are, and is read the same way. `<` cannot be in a URL that an agent gives.
// Who sees them is decided in auth/seen-endpoint.ts.
import type { Agent } from '@sensorium/contract'
import { invalid } from '../kernel/failure.ts'
import type { Secrets } from '../kernel/secrets.ts'

interface Owned {
  tenant_id: string
  id: string
  delivery_endpoint: string | null
}

/** Returns the endpoint as the caller may see it. */
export type ShowEndpoint = (agent: Owned) => string | null

// What a URL of http is parsed by: any number of slashes, then everything up to the last @ of the authority.
const USER = /^([a-z][a-z0-9+.-]*:\/*)([^/?#]+)@/i
const SEALED = /^<(.+)>$/

const contextOf = ({ tenant_id, id }: Omit<Owned, 'delivery_endpoint'>): string =>
  `delivery-endpoint ${tenant_id} ${id}`

/** Returns the URL with `***` for its user and password, sealed or not. */
export const maskUser = (url: string): string => url.replace(USER, '$1***@')

function sealUser(secrets: Secrets, agent: Owned, url: string): string {
  return url.replace(USER, (_, scheme: string, user: string) => {
    // A slash would end the authority. It is read back from either alphabet of base64.
    const sealed = secrets.seal(user, contextOf(agent)).replaceAll('/', '_')
    return `${scheme}<${sealed}>@`
  })
}

/** Returns the URL as the agent gave it. */
export function openUser(secrets: Secrets, agent: Omit<Owned, 'delivery_endpoint'>, stored: string): string {
  return stored.replace(USER, (all, scheme: string, user: string) => {
    const sealed = SEALED.exec(user)?.[1]
    return sealed === undefined ? all : `${scheme}${secrets.open(sealed, contextOf(agent))}@`
  })
}

/** Whether an agent is shown with the user and password of its endpoint. */
export const showsUser = ({ delivery_endpoint: url }: Agent): boolean => url != null && maskUser(url) !== url

export const maskedEndpoint: ShowEndpoint = ({ delivery_endpoint: url }) => (url === null ? null : maskUser(url))

const originOf = (url: string): string | undefined => URL.parse(url)?.origin

/** Puts the user and password of the present URL where the caller, who was shown `***`, gives that back. */
function withPresentUser(present: string | null, wanted: string): string {
  if (USER.exec(wanted)?.[2] !== '***') return wanted
  const user = USER.exec(present ?? '')?.[2]
  // Whoever may not see them must not have them sent elsewhere, and nobody means three stars.
  if (user === undefined || originOf(wanted) !== originOf(present!))
    throw invalid({
      field: 'delivery_endpoint',
      value: wanted,
      expected: 'a user and password of its own: *** stands for those of the present URL, at its scheme, host and port',
      example: 'https://user:password@agents.example.com/inbox',
    })
  return wanted.replace(USER, (_, scheme: string) => `${scheme}${user}@`)
}

/** Returns what to store for the URL that a request gives. The same URL leaves what is stored. */
export function storedEndpoint(secrets: Secrets, agent: Owned, wanted: string | null): string | null {
  if (wanted === null) return null
  const present = agent.delivery_endpoint
  const opened = openUser(secrets, agent, withPresentUser(present, wanted))
  return present !== null && opened === openUser(secrets, agent, present) ? present : sealUser(secrets, agent, opened)
}
