// Finds the regular expressions in a source text. It reads enough of TypeScript to know where one can begin; an error
// would return an expression that does not compile, and fail the test that uses this.

export interface Literal {
  line: number
  source: string
  flags: string
}

const AFTER_WORD = /(?:^|[^\w$.])(?:return|typeof|case|in|of|do|else|void|throw|new|delete|await|yield)$/

/** After a value a slash divides; after anything else it begins a regular expression. */
function canBegin(before: string): boolean {
  const text = before.trimEnd()
  const last = text.at(-1)
  if (last === undefined) return true
  if (/[\w$]/.test(last)) return AFTER_WORD.test(text.slice(-12))
  if (last === '!') return !/[\w$)\]]/.test(text.at(-2) ?? '')
  return !/[)\]"'`]/.test(last)
}

/** Returns where the text that a quote begins ends; a template that is interrupted by `${` ends there. */
function endOfText(text: string, at: number, quote: string): number {
  for (let i = at; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === quote || (quote === '`' && text.startsWith('${', i))) return i
  }
  return text.length
}

function endOfRegex(text: string, at: number): number {
  let inClass = false
  for (let i = at; i < text.length; i++) {
    const c = text[i]
    if (c === '\\') i++
    else if (c === '[') inClass = true
    else if (c === ']') inClass = false
    else if (c === '/' && !inClass) return i
    else if (c === '\n') return -1
  }
  return -1
}

export function regexLiterals(text: string): Literal[] {
  const found: Literal[] = []
  /** What has been read since the last comment or text, which decides what may follow. */
  let before = ''
  /** The number of open braces inside each interrupted template. */
  const templates: number[] = []
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!
    if (text.startsWith('//', i)) i = text.indexOf('\n', i) === -1 ? text.length : text.indexOf('\n', i)
    else if (text.startsWith('/*', i)) i = text.indexOf('*/', i) + 1
    else if (c === "'" || c === '"' || c === '`') {
      i = endOfText(text, i + 1, c)
      if (text[i] === '$') {
        templates.push(0)
        i++
        before = '{'
      } else before = '"'
    } else if (c === '}' && templates.at(-1) === 0) {
      templates.pop()
      i = endOfText(text, i + 1, '`')
      if (text[i] === '$') {
        templates.push(0)
        i++
        before = '{'
      } else before = '"'
    } else if (c === '/' && canBegin(before)) {
      const end = endOfRegex(text, i + 1)
      const flags = /^[a-z]*/.exec(text.slice(end + 1, end + 10))![0]
      found.push({ line: text.slice(0, i).split('\n').length, source: text.slice(i + 1, end), flags })
      i = end + flags.length
      before = '"'
    } else {
      if (templates.length > 0 && c === '{') templates[templates.length - 1]!++
      if (templates.length > 0 && c === '}') templates[templates.length - 1]!--
      before = (before + c).slice(-40)
    }
  }
  return found
}
