/** What an empty list of events shows: the first one, to paste. */
export const PUBLISH = `curl ${location.origin}/v1/events -H "authorization: Bearer $TOKEN" \\
  -H 'content-type: application/json' \\
  -d '{"specversion":"1.0","type":"com.example.hello.said","source":"/shell","id":"hello-1","data":{"text":"Hello"}}'`
