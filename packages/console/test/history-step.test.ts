// What Back does after a drawer, a dialog or a filter was set.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { historyStep } from '../src/pages/history-step.ts'

test('[UI-60] what opens is an entry of its own, and closing it returns to the one before', () => {
  const opened = historyStep({ type: 'com.*' }, { open: 'dlv_1' }, false)
  assert.deepEqual(opened, { kind: 'push', isOpening: true })
  const closed = historyStep({ type: 'com.*', open: 'dlv_1' }, { open: '' }, opened.isOpening)
  assert.deepEqual(closed, { kind: 'back', isOpening: false })
})

test('[UI-60] the address of something open, without an entry before it, is closed in place', () => {
  assert.deepEqual(historyStep({ open: 'dlv_1' }, { open: '' }, false), { kind: 'replace', isOpening: false })
})

test('[UI-60] one thing that opens in place of another is no further entry', () => {
  const step = historyStep({ new: 'webhook' }, { new: '', open: 'whk_1' }, true)
  assert.deepEqual(step, { kind: 'replace', isOpening: true })
})

test('[UI-60] a filter replaces the entry, whether or not something closes with it', () => {
  assert.deepEqual(historyStep({}, { type: 'com.*' }, false), { kind: 'replace', isOpening: false })
  const step = historyStep({ open: 'aud_1' }, { open: '', actor: 'adm_1' }, true)
  assert.deepEqual(step, { kind: 'replace', isOpening: false })
})
