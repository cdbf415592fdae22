// Words are found in any language and script: by their stems, without accents, and in scripts without spaces.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { languagesOf, type Language } from '../../../src/memory/index/languages.ts'
import { askedWords } from '../../../src/memory/index/terms.ts'
import { formsOf } from '../../../src/memory/index/word-forms.ts'
import { onBothEngines } from '../../support/engines.ts'
import { agentForSuite, serviceForSuite, tenantForSuite } from '../../support/service.ts'
import { countWords } from '../count-words.ts'
import { memoryCalls, wordsOf } from '../tools.ts'

type Found = [content: string, question: string]

// Each question contains a word of its memory in another form or without accents, and no word of the others.
const KNOWN: Record<string, Found[]> = {
  German: [
    ['Die Prüfungen der Pumpen sind im März fällig.', 'Wann ist die Pruefung der Pumpe?'],
    ['Alle Rechnungen gehen an das Büro in der Hauptstraße.', 'Wohin geht eine Rechnung? Hauptstrasse'],
    ['Der Hausmeister hat die Schlüssel für die Häuser am See.', 'Wer hat den Schluessel für das Haus?'],
  ],
  French: [
    ['Les réunions du comité sont déplacées au jeudi.', 'Quand est la reunion du comite ?'],
    ['Les factures des fournisseurs sont payées en fin de mois.', 'Comment est payée une facture ?'],
    ['Les chevaux sont nourris le matin par Luc.', 'Qui nourrit le cheval ?'],
  ],
  Spanish: [
    ['Las reuniones del equipo son los lunes por la mañana.', '¿Cuándo es la reunion?'],
    ['Las bombas del sótano se revisan cada año.', 'bomba sotano'],
    ['Los clientes pagan sus facturas con retraso.', '¿Qué cliente paga la factura?'],
  ],
  Portuguese: [
    ['As estações de bombagem fecham à noite.', 'Quando fecha a estação?'],
    ['As faturas dos clientes são enviadas pelo correio.', 'Como é enviada a fatura do cliente?'],
    ['Os motores novos precisam de óleo especial.', 'oleo do motor'],
  ],
  Italian: [
    ['Le riunioni con i fornitori sono di martedì.', 'Quando è la riunione con il fornitore?'],
    ['Le stazioni della linea rossa restano chiuse.', 'stazione chiusa'],
    ['Le fatture vanno pagate entro trenta giorni.', 'Quando si paga la fattura?'],
  ],
  Dutch: [
    ['De vergaderingen van het team zijn op dinsdag.', 'Wanneer is de vergadering?'],
    ['Alle facturen gaan naar het kantoor in Utrecht.', 'Waar gaat een factuur naartoe?'],
    ['De pompen worden elk jaar door Jan gesmeerd.', 'Wie smeert de pomp?'],
  ],
  Russian: [
    ['Собрания отдела переносятся на вторник.', 'Когда собрание?'],
    ['Резервная копия лежит в подвале.', 'Где искать резервные копии?'],
    ['Насосы третьего зала ремонтирует Пётр.', 'Кто ремонтировал насос? Петр'],
  ],
  Chinese: [
    ['服务器需要每个月重新启动一次。', '什么时候重新启动服务器'],
    ['会议改到星期二下午。', '会议时间'],
    ['咖啡机在二楼的厨房里。', '咖啡机在哪里'],
  ],
  Japanese: [
    ['サーバーは毎月再起動します。', 'サーバーの再起動はいつ'],
    ['会議は火曜日に移った。', '会議はいつですか'],
    ['コーヒーは二階の台所にある。', 'コーヒーはどこ'],
  ],
  Thai: [
    ['ปั๊มน้ำหมายเลขเจ็ดร้อนเกินไป', 'ปั๊มน้ำร้อน'],
    ['รถไฟไปเชียงใหม่ออกตอนเช้า', 'รถไฟออกเมื่อไหร่'],
    ['เครื่องพิมพ์อยู่ชั้นสอง', 'เครื่องพิมพ์อยู่ที่ไหน'],
  ],
  Korean: [
    ['회의가 화요일로 옮겨졌습니다.', '회의 언제'],
    ['커피는 이층 부엌에서부터 마실 수 있습니다.', '부엌이 어디'],
    ['펌프를 매년 점검합니다.', '펌프'],
  ],
  pictographs: [
    ['Launch day 🚀', '🚀'],
    ['We \u2764\ufe0f the new valve', '\u2764'],
    ['The team won 👩🏽\u200d🚀', '👩'],
  ],
}

test('[RCL-41] stop words reveal the language of a text, and a text without them counts as all languages', () => {
  const told = (text: string): string => languagesOf(text.split(' ')).join(' ')
  assert.equal(told('what is a recipe for bean soup'), 'en')
  assert.equal(told('wo ist der schlussel fur die garage'), 'de')
  assert.equal(told('ou est la cle du garage'), 'fr')
  assert.equal(told('donde esta la llave del garaje'), 'es')
  assert.equal(told('onde esta a chave da garagem do predio'), 'pt')
  assert.equal(told('dove sono le chiavi del garage'), 'it')
  assert.equal(told('waar is de sleutel van het huis'), 'nl')
  assert.equal(told('wartungsplan pumpen').split(' ').length, 7)
  assert.equal(told('word '.repeat(100).trim()), 'en')
})

test('[RCL-41] a word is found by its English stem whatever language was assumed, and accents fold', () => {
  const { words } = askedWords('Which PUMPEN did we rebuild?')
  const { counts } = countWords('Wartung', 'Die Pumpen sind geprüft.')
  assert.ok(words.some((forms) => forms.some((form) => counts.has(form))))
  for (const [typed, stored] of [
    ['Strasse', 'Straße'],
    ['cafe', 'Café'],
    ['Lodz', 'Łódź'],
    ['smorrebrod', 'Smørrebrød'],
  ] as const)
    assert.ok(
      askedWords(typed).words[0]!.some((form) => wordsOf(stored)[0]!.includes(form)),
      stored,
    )
})

test('[RCL-41] each language has the stems of its own words, where English has none', () => {
  for (const [language, one, other] of [
    ['de', 'häuser', 'haus'],
    ['fr', 'chevaux', 'cheval'],
    ['es', 'corriendo', 'correr'],
    ['pt', 'trabalhando', 'trabalhar'],
    ['it', 'lavorando', 'lavorare'],
    ['nl', 'vergaderingen', 'vergadering'],
  ] as const) {
    const isShared = (languages: readonly Language[]): boolean =>
      formsOf(one, languages).some((form) => formsOf(other, languages).includes(form))
    assert.ok(!isShared(['en']), `${one} in English`)
    assert.ok(isShared([language]), one)
  }
})

test('[RCL-41] small words of Russian are left out, and endings are stemmed', () => {
  assert.deepEqual(askedWords('на').words, [])
  const { words } = askedWords('Какой насос и в каком зале?')
  assert.deepEqual(words.length, 3)
  for (const [one, other] of [
    ['бумагой', 'бумага'],
    ['возвраты', 'возврат'],
    ['клиенту', 'клиент'],
  ] as const)
    assert.ok(
      formsOf(one, ['en']).some((form) => formsOf(other, ['en']).includes(form)),
      one,
    )
})

test('[RCL-41] a Korean word is found with and without its particles, and by itself', () => {
  for (const [one, other] of [
    ['회의가', '회의'],
    ['서울에서도', '서울'],
    ['고양이가', '고양이'],
    ['물을', '물'],
  ] as const)
    assert.ok(
      formsOf(one, ['en']).some((form) => formsOf(other, ['en']).includes(form)),
      one,
    )
  assert.deepEqual(formsOf('이', ['en']), ['이'])
})

test('[RCL-41] forms are not words: text length and query words count each word once', () => {
  const { length, counts } = countWords('', 'Wartungsplan Pumpen')
  assert.equal(length, 2)
  assert.ok(counts.size > 2)
  assert.equal(askedWords('Pumpe Pumpen').words.length, 1, 'both are one word')
})

test('[RCL-41] only the beginning of a long query in a script without spaces is segmented', () => {
  for (const text of ['服务器需要重新启动', 'รถไฟไปเชียงใหม่'])
    assert.deepEqual(askedWords(text.repeat(2_000)).words, askedWords(text.repeat(2_000).slice(0, 512)).words)
})

onBothEngines((engine) => {
  const service = serviceForSuite(engine)
  const agent = agentForSuite(tenantForSuite(service))
  const calls = memoryCalls(service)
  before(async () => {
    for (const known of Object.values(KNOWN))
      for (const [content] of known) await calls.make(agent, { title: '–', content })
    await service.app.memory.embedding.idle()
  })

  const search = (query: string) => calls.search(agent, query, { limit: 3, explain: true })

  for (const [language, known] of Object.entries(KNOWN))
    test(`[RCL-41] ${language}: words are found in another form, without accents, without spaces`, async () => {
      for (const [content, question] of known) {
        const [best] = await search(question)
        assert.equal(best!.memory.content, content, question)
        assert.ok(best!.signals!.lexical > 0.05, `${question}: ${JSON.stringify(best!.signals)}`)
      }
    })

  test('[RCL-42] words of older rules are redone in the background, and found meanwhile and after', async () => {
    const made = await calls.make(agent, { title: 'Kessel', content: 'Die Ventile der Kessel sind undicht.' })
    await service.app.memory.embedding.idle()
    const { store } = service
    const state = () =>
      store.rows<{ word_rules: number; version: number; embedded: string }>(
        'select word_rules, version, embedded from memory_recall where tenant_id = ? and memory_id = ?',
        [made.tenant_id, made.id],
      )
    const [before] = await state()
    await search('Ventil') // caches the columns
    await store.tx((tx) =>
      tx.run('update memory_recall set word_rules = 1 where tenant_id = ? and memory_id = ?', [
        made.tenant_id,
        made.id,
      ]),
    )
    assert.equal((await search('Ventile'))[0]!.memory.id, made.id)
    assert.equal(await service.app.runOnce.rewordMemories(), 1)
    assert.equal(await service.app.runOnce.rewordMemories(), 0)
    assert.deepEqual(await state(), [before], 'nothing is embedded again')
    assert.equal((await search('Wo ist das undichte Ventil?'))[0]!.memory.id, made.id)
  })
})
