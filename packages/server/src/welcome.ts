// What the service prints when it has started: its addresses and, on the first start, the key and a first event.

/** What a person on this machine would type to reach the service. */
export function localAddress(listening: string): string {
  const url = new URL(listening)
  // [::1] stays: on many machines localhost is 127.0.0.1 alone.
  if (['0.0.0.0', '[::]', '127.0.0.1'].includes(url.hostname)) url.hostname = 'localhost'
  return url.origin
}

/** Whether other machines reach it too: the default HOST listens on every address of the machine. */
const isOpenToOthers = (listening: string): boolean => ['0.0.0.0', '[::]'].includes(new URL(listening).hostname)

const OPEN_TO_OTHERS = '  Other machines can reach it too; with HOST=127.0.0.1 only this one can.'

/** How a key that the store has only as a hash is shown. */
export const keyLine = (adminKey: string): string => `  Org-admin key (shown this once):  ${adminKey}`

interface Welcome {
  listening: string
  /** PUBLIC_URL, if it is set. */
  publicUrl: string | null
  adminKey: string | null
  /** Whether the key is the one of BOOTSTRAP_ADMIN_KEY. */
  givenKey: boolean
  hasConsole: boolean
}

export function welcome({ listening, publicUrl, adminKey, givenKey, hasConsole }: Welcome): string {
  const local = localAddress(listening)
  const url = publicUrl ?? local
  const reached = publicUrl === null ? '' : ` and is reached as ${publicUrl} (PUBLIC_URL)`
  const console = hasConsole ? [`  Console    ${url}/console`] : []
  const open = isOpenToOthers(listening) ? [OPEN_TO_OTHERS, ``] : []
  const lines = [``, `  Sensorium listens on ${local}${reached}`, ...console, `  Reference  ${url}/docs`, ``, ...open]
  if (adminKey === null) return lines.join('\n')
  lines.push(
    givenKey ? `  The org-admin key is the one in BOOTSTRAP_ADMIN_KEY.` : keyLine(adminKey),
    ``,
    `  Publish an event:`,
    ``,
    `  TOKEN=$(curl -s ${url}/v1/auth/token -H 'content-type: application/json' -d '{"api_key":"${givenKey ? '$BOOTSTRAP_ADMIN_KEY' : adminKey}"}' | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`.replace(
      `'{"api_key":"$BOOTSTRAP_ADMIN_KEY"}'`,
      `"{\\"api_key\\":\\"$BOOTSTRAP_ADMIN_KEY\\"}"`,
    ),
    `  curl -i ${url}/v1/events -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\`,
    // A new id each time: a second event with the same one would be a duplicate, and nothing would be seen of it.
    `    -d '{"specversion":"1.0","type":"com.example.hello.said","source":"/tour","id":"hello-'$RANDOM'","data":{"text":"Hello"}}'`,
    ``,
  )
  return lines.join('\n')
}
