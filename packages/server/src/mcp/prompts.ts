// Prompts: two common requests of people, written out for the model.
import { fromJsonSchema, type McpServer } from '@modelcontextprotocol/server'

const asUser = (text: string) => ({ messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }] })

const topic = fromJsonSchema<{ topic: string }>({
  type: 'object',
  properties: { topic: { type: 'string', description: 'What you want to know about' } },
  required: ['topic'],
})

export function registerPrompts(server: McpServer): void {
  server.registerPrompt(
    'what_do_i_know_about',
    {
      title: 'What do I know about…',
      description: 'Summarises what is remembered about a topic, and how certain it is.',
      argsSchema: topic,
    },
    ({ topic }) =>
      asUser(
        `What do I know about ${topic}? Use recall with two or three different questions, follow what is related with explore_memory, and read what matters with get_memory. Then sum it up in a few sentences, say how certain each point is and how old, and name what contradicts what. If nothing fits, say that nothing is known.`,
      ),
  )
  server.registerPrompt(
    'triage_my_mailbox',
    {
      title: 'Triage my mailbox',
      description: 'Goes through the events that have arrived, most urgent first.',
    },
    () =>
      asUser(
        'Go through my mailbox. Use check_mailbox, and for each event say in one sentence what it is and how urgent, using recall where earlier experience helps. Propose what to do. Acknowledge only what needs nothing more or what I have agreed to; give back what you could not handle, with the reason.',
      ),
  )
}
