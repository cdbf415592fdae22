// Checks the arguments and results of tools against their schemas. The first problem is enough for a refusal: the
// library's own validator describes each wrong item of an array, and half a million of them made 20 MB of text.
import { addFormats, Ajv, AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv'

// The other options are those of the library.
const ajv = new Ajv({ strict: false, validateFormats: true, validateSchema: false, allErrors: false })
addFormats(ajv)

export const validator = new AjvJsonSchemaValidator(ajv)
