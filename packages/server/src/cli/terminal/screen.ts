// The destination of text: a terminal with its width and colours, or a pipe that receives plain text.
import { styleText } from 'node:util'

export interface Screen {
  /** Null if it is not a terminal: nothing is cut or wrapped then. */
  columns: number | null
  colours: boolean
  now(): number
}

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** Text with a colour that a terminal shows and a pipe does not. */
export interface Styled {
  text: string
  style?: Style
  /** Whether a table may cut it although there are ids in it. */
  cuttable?: boolean
}

const NARROWEST = 40
const UNKNOWN_WIDTH = 80

const screenOf = (stream: NodeJS.WriteStream): Screen => ({
  columns: stream.isTTY ? Math.max(NARROWEST, stream.columns || UNKNOWN_WIDTH) : null,
  // hasColors() respects NO_COLOR, FORCE_COLOR and TERM=dumb.
  colours: stream.isTTY && stream.hasColors(),
  now: () => Date.now(),
})

export const screen: Screen = screenOf(process.stdout)
export const errorScreen: Screen = screenOf(process.stderr)

export const paint = (style: Style, text: string, { colours }: Screen = screen): string =>
  colours ? styleText(style, text, { validateStream: false }) : text
