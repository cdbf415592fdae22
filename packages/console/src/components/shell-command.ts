/**
 * Returns a command that posts to the API, for an empty list to show. It begins with the exchange of a key for a token:
 * a user has a key, and nothing else here says how to get a token.
 */
export const shellCommand = (path: string, body: string): string => `KEY=ak_live_…
TOKEN=$(curl -s ${location.origin}/v1/auth/token \\
  -H 'content-type: application/json' -d '{"api_key":"'$KEY'"}' |
  sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
curl ${location.origin}${path} \\
  -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\
  -d '${body}'`
