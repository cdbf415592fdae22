// Texts in languages that the built-in model was not trained with: what has nothing to do with each other stays apart.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreatedMemory } from '@sensorium/contract'
import { FLOOR } from '../../src/enrichment/enrich.ts'
import { baselineOf, NO_BASELINE } from '../../src/memory/baseline.ts'
import { isEnglishText } from '../../src/memory/index/terms.ts'
import { onBothEngines } from '../support/engines.ts'
import { serviceForSuite, tenantForSuite } from '../support/service.ts'
import { memoryCalls } from './tools.ts'

interface Texts {
  memories: string[]
  /** One for each memory. */
  related: string[]
  unrelated: string[]
}

const TEXTS: Record<string, Texts> = {
  German: {
    memories: [
      'Die Besprechung wurde auf Dienstag verlegt.',
      'Die Pumpe in Halle drei ist laut.',
      'Der Drucker klemmt bei dickem Papier.',
      'Die Sicherung läuft nachts um zwei.',
      'Das Passwort des Gäste-WLANs wechselt wöchentlich.',
      'Die Hintertür klemmt bei Nässe.',
    ],
    related: [
      'Neuer Termin für die Besprechung',
      'Lärm an der Pumpe gemeldet',
      'Papierstau am Drucker im zweiten Stock',
      'Sicherung heute Nacht fehlgeschlagen',
      'Ein Gast fragt nach dem Passwort für das WLAN',
      'Die Hintertür geht nicht auf',
    ],
    unrelated: [
      'Sturmwarnung für die Nordküste',
      'Die Kuh Berta gab 23 Liter Milch',
      'Ein rotes Fahrrad wurde am Kino gestohlen',
      'Der Kontakt zum Satelliten ging verloren',
      'Der Patient hat Schmerzen in der Brust',
      'Das Parlament stimmt über Fangquoten ab',
      'Der Flug hat Verspätung',
      'Die Sonate wurde gespielt',
    ],
  },
  Russian: {
    memories: [
      'Насос в третьем зале гремит.',
      'Принтер застревает с толстой бумагой.',
      'Резервное копирование идёт в два часа ночи.',
      'Пароль гостевой сети меняется каждую неделю.',
      'Задняя дверь заедает в сырость.',
    ],
    related: [
      'Шум: насос в зале',
      'В принтере застряла бумага',
      'Резервное копирование не удалось',
      'Гость спрашивает пароль сети',
      'Задняя дверь не открывается',
    ],
    unrelated: [
      'Штормовое предупреждение на северном побережье',
      'Корова Берта дала 23 литра молока',
      'Арсенал выиграл матч',
      'Красный велосипед украли у кинотеатра',
      'Связь со спутником потеряна',
      'Рейс задерживается',
      'Сыграли сонату',
    ],
  },
  Chinese: {
    memories: ['三号厅的水泵很吵。', '打印机用厚纸会卡住。', '备份在凌晨两点运行。', '访客无线密码每周更换。'],
    related: ['水泵有噪音', '打印机卡纸', '备份失败', '访客询问无线密码'],
    unrelated: ['北部海岸风暴警告', '奶牛产了二十三升牛奶', '与卫星失去联系', '议会就渔业配额投票', '航班延误'],
  },
}

const THAI = ['การประชุมเลื่อนไปวันอังคาร', 'ปั๊มในโรงงานสามเสียงดัง', 'เครื่องพิมพ์ติดกระดาษหนา']
const GREEK = [
  'Η συνάντηση μεταφέρθηκε για την Τρίτη.',
  'Η αντλία στην αίθουσα τρία κάνει θόρυβο.',
  'Ο εκτυπωτής κολλάει με χοντρό χαρτί.',
]

test('[RCL-77] a text is English, or not, by the small words that only one of them has', () => {
  for (const text of ['The pump is hot', 'what is a recipe for bean soup', 'order.created: the order was sent'])
    assert.equal(isEnglishText(text), true, text)
  for (const text of [
    'Die Pumpe ist heiß',
    'note made: La bomba con ruido',
    'Una zebra e una mucca',
    'Le vol est retardé',
  ])
    assert.equal(isEnglishText(text), false, text)
  // A single foreign word stands in English texts too.
  for (const text of [
    'van hire prices',
    'die casting temperature',
    'Los Angeles office',
    'refund request anna@acme.com',
  ])
    assert.equal(isEnglishText(text), undefined, text)
  for (const text of ['Globex overdue', 'Is Elise interesting?', 'Шум', ''])
    assert.equal(isEnglishText(text), undefined, text)
})

test('[RCL-77] English texts and texts of names and numbers have no baseline, mixed ones a part of it', () => {
  assert.deepEqual(baselineOf('The pump is hot', ['pump', 'hot']), NO_BASELINE)
  assert.deepEqual(baselineOf('42 + 17', []), NO_BASELINE)
  assert.deepEqual(baselineOf('Globex overdue', ['globex', 'globex', 'overdue']), NO_BASELINE)
  assert.equal(baselineOf('Die Pumpe ist heiß', []).foreign, 1)
  assert.equal(baselineOf('Насос гремит', []).foreign, 1)
  const mixed = baselineOf('The pump: насос', [])
  assert.ok(mixed.foreign > 0.3 && mixed.foreign < 0.6)
  // Nouns without small words: the model cuts them into many pieces.
  const pieces = (word: string, count: number): string[] => new Array<string>(count).fill(word)
  const words = [...pieces('papierstau', 4), ...pieces('drucker', 3), ...pieces('halle', 2)]
  assert.equal(baselineOf('Papierstau Drucker Halle', words).foreign, 1)
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const tenant = tenantForSuite(service)
  const calls = memoryCalls(service)

  for (const [language, { memories, related, unrelated }] of Object.entries(TEXTS))
    test(`[RCL-77] ${language}: what is related is found first, and what is not stays below the floor`, async () => {
      const agent = await tenant.agent()
      for (const content of memories) await calls.make(agent, { title: '–', content })
      await service.app.memory.embedding.idle()
      const bestOf = async (query: string) => (await calls.search(agent, query, { limit: 1 }))[0]
      let first = 0
      for (const [i, text] of related.entries()) if ((await bestOf(text))?.memory.content === memories[i]) first++
      assert.ok(first >= related.length - 1, `${first} of ${related.length} found theirs first`)
      const noisy: string[] = []
      for (const text of unrelated) if (((await bestOf(text))?.score ?? 0) >= FLOOR.score) noisy.push(text)
      assert.ok(noisy.length <= 1, noisy.join(', '))
    })

  test('[RCL-77] of good matches in another language the more certain and similar one comes first', async () => {
    const agent = await tenant.agent()
    const sure = 'Der Kunde Meier hat sich über die verspätete Lieferung der Ersatzteile beschwert.'
    const unsure = 'Der Kunde Meier hat sich über die verspätete Lieferung der Ersatzteile nie beschwert, er lobte sie.'
    await calls.make(agent, { title: 'Kunde Meier', content: sure })
    await calls.make(agent, { title: 'Kunde Meier', content: unsure, confidence: 0.1, importance: 0 })
    for (const content of TEXTS['German']!.memories) await calls.make(agent, { title: '–', content })
    await service.app.memory.embedding.idle()
    const [first, second] = await calls.search(agent, sure, { limit: 2 })
    assert.equal(first!.memory.content, sure)
    assert.ok(first!.score > second!.score)
  })

  test('[RCL-77] memories in a script that the model cannot read are no duplicates of each other', async () => {
    for (const texts of [THAI, GREEK]) {
      const agent = await tenant.agent()
      for (const content of texts) {
        const made = (await calls.post(agent, { title: '–', content })).body as CreatedMemory
        await service.app.memory.embedding.idle()
        assert.equal(made.similar, undefined, content)
      }
    }
    const agent = await tenant.agent()
    const [first] = await Promise.all(THAI.map((content) => calls.make(agent, { title: '–', content })))
    await service.app.memory.embedding.idle()
    const like = await service.call(`GET /v1/memories/${first!.id}/similar`, { token: agent.token })
    assert.deepEqual(like.body, { results: [] })
    assert.equal((await calls.search(agent, THAI[0]!, { limit: 1 }))[0]!.memory.id, first!.id)
  })
})
