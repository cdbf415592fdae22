/** The command that an empty list of events shows, ready to paste: it publishes the first one. */
export const PUBLISH = `curl ${location.origin}/v1/events -H "authorization: Bearer $TOKEN" \\
  -H 'content-type: application/json' \\
  -d '{"specversion":"1.0","type":"com.example.hello.said","source":"/shell","id":"hello-1","data":{"text":"Hello"}}'`
