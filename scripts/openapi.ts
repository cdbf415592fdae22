// Writes openapi.json from the contract. A test compares the two.
import { writeFileSync } from 'node:fs'
import { openapi, operations } from '@sensorium/contract'

writeFileSync(
  new URL('../openapi.json', import.meta.url),
  JSON.stringify(openapi(Object.values(operations)), null, 2) + '\n',
)
