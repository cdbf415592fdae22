// The folder of the repository.
import path from 'node:path'

export const ROOT = path.resolve(import.meta.dirname, '../../../..')
