// What the score of a search is made of.
import { Type, type Static } from './shapes.ts'

export const SearchSignals = Type.Object(
  {
    similarity: Type.Number({ examples: [0.71] }),
    lexical: Type.Number({ examples: [0.2] }),
    tokens: Type.Optional(
      Type.Number({ examples: [0.44], description: 'How similar its tokens are to those of the query.' }),
    ),
    feedback: Type.Optional(
      Type.Number({ examples: [0.68], description: 'Its similarity to the query moved towards its best answers.' }),
    ),
    confidence: Type.Number({ examples: [1] }),
    recency: Type.Number({ examples: [0.98] }),
    importance: Type.Number({ examples: [0.5] }),
    in_passing: Type.Optional(
      Type.Number({ examples: [0.6], description: 'How far its only word of the query counts as held in passing.' }),
    ),
    other_time: Type.Optional(
      Type.Number({ examples: [0.15], description: 'The share that it loses because the query names another time.' }),
    ),
    contradicted: Type.Optional(
      Type.Number({ examples: [1], description: 'How strongly another result contradicts this one.' }),
    ),
    reranked: Type.Optional(Type.Number({ examples: [0.8], description: 'The score of the rerank service.' })),
  },
  {
    $id: 'SearchSignals',
    description:
      'The signals behind the score, each 0 to 1. Those that do not apply are left out. Signals may change; the other fields of a result do not.',
  },
)
export type SearchSignals = Static<typeof SearchSignals>
