// Icons, drawn for this console on a 16-pixel grid: one stroke weight, no fill.
import type { ReactNode } from 'react'

const icon = (paths: ReactNode) =>
  function Icon() {
    return (
      <svg
        className="icon-mark"
        viewBox="0 0 16 16"
        fill="none"
        stroke="currentColor"
        strokeWidth="1.4"
        strokeLinecap="round"
        strokeLinejoin="round"
        aria-hidden="true"
      >
        {paths}
      </svg>
    )
  }

/** The logo: something that senses. */
export function Mark() {
  return (
    <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="2" strokeLinecap="round" aria-hidden="true">
      <circle cx="6.5" cy="17.5" r="2.4" fill="currentColor" stroke="none" />
      <path d="M6.5 10.6a6.9 6.9 0 0 1 6.9 6.9" />
      <path d="M6.5 4.5a13 13 0 0 1 13 13" opacity=".5" />
    </svg>
  )
}

export const OverviewIcon = icon(<path d="M1.5 8.5h3l2-5 3 9 2-4h3" />)
export const EventsIcon = icon(<path d="M8.8 1.5 3.5 9h4l-.8 5.5L12.5 7H8.2z" />)
export const AgentsIcon = icon(
  <>
    <circle cx="8" cy="5.2" r="2.7" />
    <path d="M2.7 14c.5-2.8 2.6-4.3 5.3-4.3s4.8 1.5 5.3 4.3" />
  </>,
)
export const ChannelsIcon = icon(<path d="M6.2 2 4.8 14M11.2 2 9.8 14M2.5 5.7h11.5M2 10.3h11.5" />)
export const AuditIcon = icon(
  <>
    <path d="M4 1.8h5.8L12.6 4.6v9.6H4Z" />
    <path d="M6.2 7.2h4M6.2 10h4" />
  </>,
)
export const DeadLettersIcon = icon(
  <>
    <rect x="1.8" y="3.2" width="12.4" height="9.6" rx="1.5" />
    <path d="m2.5 4.2 5.5 4.3 5.5-4.3M5.8 12.3l4.4 0" />
  </>,
)
export const MemoryIcon = icon(
  <>
    <circle cx="8" cy="8" r="2" />
    <circle cx="3" cy="3.5" r="1.3" />
    <circle cx="13" cy="4" r="1.3" />
    <circle cx="4" cy="13" r="1.3" />
    <path d="m4 4.4 2.5 2.2M11.9 4.7 9.6 6.8M4.9 12.1 6.7 9.6" />
  </>,
)
export const IngestionIcon = icon(<path d="M8 1.5v8m0 0 3-3m-3 3-3-3M2 10.5v3h12v-3" />)
export const OperatorIcon = icon(
  <>
    <path d="M2 4h7M12.5 4H14M2 8h1.5M7 8h7M2 12h7M12.5 12H14" />
    <circle cx="10.8" cy="4" r="1.5" />
    <circle cx="5.2" cy="8" r="1.5" />
    <circle cx="10.8" cy="12" r="1.5" />
  </>,
)
export const SearchIcon = icon(
  <>
    <circle cx="7" cy="7" r="4.5" />
    <path d="m10.5 10.5 3.5 3.5" />
  </>,
)
export const CloseIcon = icon(<path d="m4 4 8 8m0-8-8 8" />)
export const CopyIcon = icon(
  <>
    <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
    <path d="M10.5 5.5V4A1.5 1.5 0 0 0 9 2.5H4A1.5 1.5 0 0 0 2.5 4v5A1.5 1.5 0 0 0 4 10.5h1.5" />
  </>,
)
export const CheckIcon = icon(<path d="m3 8.5 3.5 3.5L13 4.5" />)
export const PlusIcon = icon(<path d="M8 3v10M3 8h10" />)
export const MenuIcon = icon(<path d="M2 4.5h12M2 8h12M2 11.5h12" />)
export const PauseIcon = icon(<path d="M5.5 3.5v9M10.5 3.5v9" />)
export const PlayIcon = icon(<path d="M5 3.2v9.6l7.5-4.8z" />)
export const TrashIcon = icon(<path d="M2.5 4.5h11M6.5 4.5v-2h3v2M4 4.5l.6 9h6.8l.6-9M6.7 7v4M9.3 7v4" />)
export const ArrowIcon = icon(<path d="M3 8h10m0 0L9.5 4.5M13 8l-3.5 3.5" />)
export const BackIcon = icon(<path d="M10 3 5 8l5 5" />)
export const FoldIcon = icon(<path d="m6 4 4 4-4 4" />)
export const SunIcon = icon(
  <>
    <circle cx="8" cy="8" r="2.8" />
    <path d="M8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9" />
  </>,
)
export const MoonIcon = icon(<path d="M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z" />)
export const SystemIcon = icon(
  <>
    <rect x="2" y="3" width="12" height="8" rx="1.2" />
    <path d="M5.5 13.5h5" />
  </>,
)
export const LeaveIcon = icon(<path d="M6 2.5H3v11h3M7 8h7m0 0-2.5-2.5M14 8l-2.5 2.5" />)
