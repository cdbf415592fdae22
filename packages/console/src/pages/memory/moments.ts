// Times in the format of form fields: local time, to the minute.
const two = (value: number): string => String(value).padStart(2, '0')

export function toInput(at: string | null | undefined): string {
  if (!at) return ''
  const moment = new Date(at)
  const day = `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`
  return `${day}T${two(moment.getHours())}:${two(moment.getMinutes())}`
}

export const fromInput = (text: string): string | null => (text === '' ? null : new Date(text).toISOString())
