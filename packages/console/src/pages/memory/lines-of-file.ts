/** Yields the lines of a file as they are read, and calls `read` with the bytes read so far. Empty lines are kept. */
export async function* linesOfFile(file: Blob, read: (bytes: number) => void): AsyncGenerator<string, void, undefined> {
  const reader = file.stream().getReader()
  const decoder = new TextDecoder()
  let rest = ''
  let bytes = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    bytes += value.length
    rest += decoder.decode(value, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop()!
    for (const line of lines) yield line
    read(bytes)
  }
  if (rest !== '') yield rest
}
