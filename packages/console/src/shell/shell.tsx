// The frame around every page: navigation, the signed-in user, the command palette, keyboard shortcuts.
import { Link, Outlet, useLocation, useMatches, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { LeaveIcon, Mark, MenuIcon, MoonIcon, PlusIcon, SearchIcon, SunIcon, SystemIcon } from '../components/icons.tsx'
import { Segments } from '../components/segments.tsx'
import { pageOf, pages } from '../pages/index.ts'
import type { Page } from '../pages/page.ts'
import { useSearchChange } from '../pages/search-params.ts'
import { useSession, useSignOut } from '../session/session.ts'
import { AwayBanner } from './away-banner.tsx'
import { NotFound } from './page-failed.tsx'
import { Palette, type Command } from './palette.tsx'
import { usePhoneMenu } from './phone-menu.ts'
import { ShortcutSheet } from './shortcut-sheet.tsx'
import { dialogIsOpen, listenForShortcuts, useShortcut } from './shortcuts.ts'
import { applyTheme, currentTheme, THEMES, type Theme } from './theme.ts'

const THEME_ICONS = { system: <SystemIcon />, light: <SunIcon />, dark: <MoonIcon /> }

function ThemeSwitch() {
  const [theme, setTheme] = useState(currentTheme)
  useEffect(() => {
    const follow = (): void => setTheme(currentTheme())
    addEventListener('theme', follow)
    return () => removeEventListener('theme', follow)
  }, [])
  const options = THEMES.map((value) => ({ value, label: THEME_ICONS[value], title: `Theme: ${value}` }))
  return <Segments<Theme> label="Theme" value={theme} options={options} onChange={applyTheme} />
}

/** Both work on every machine; the one shown is the usual one there. */
const PALETTE_KEYS = /Mac|iP(hone|ad)/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K'

const ROLES = { org_admin: 'Org admin', agent: 'Agent', operator: 'Operator' }

function Who() {
  const { kind, agent } = useSession()
  const signOut = useSignOut()
  return (
    <div className="who">
      <div className="row">
        <div className="grow stack tight">
          <span className="cut">{agent?.name ?? ROLES[kind]}</span>
          {agent === null ? null : <span className="faint small">Signed in as an agent</span>}
        </div>
        <button type="button" className="button bare icon" aria-label="Sign out" title="Sign out" onClick={signOut}>
          <LeaveIcon />
        </button>
      </div>
      <div className="row apart">
        <ThemeSwitch />
        <a className="button bare slim" href="/docs" target="_blank" rel="noopener">
          Docs
        </a>
      </div>
    </div>
  )
}

function PageLink({ page }: { page: Page }) {
  const navigate = useNavigate()
  useShortcut(page.keys, `Go to ${page.title}`, () => void navigate({ to: page.path as never }))
  return (
    <Link to={page.path as never} activeOptions={{ exact: page.path === '/' }}>
      {page.icon}
      {page.title}
    </Link>
  )
}

/** Returns the commands that open a form. A page that is shown keeps its filters behind the form. */
function useCreations(own: readonly Page[]): Command[] {
  const { can } = useSession()
  const { pathname } = useLocation()
  const navigate = useNavigate()
  const set = useSearchChange<{ new: string }>()
  return own.flatMap(({ path, creates = [] }) =>
    creates
      .filter(({ scope }) => scope === undefined || can(scope))
      .map(({ title, new: name }) => ({
        title,
        kind: 'Do',
        to: `${path}?new=${name}`,
        icon: <PlusIcon />,
        run: () =>
          pathname === path ? set({ new: name }) : void navigate({ to: path as never, search: { new: name } as never }),
      })),
  )
}

function useCommands(own: readonly Page[], showKeys: () => void): Command[] {
  const navigate = useNavigate()
  const signOut = useSignOut()
  const creations = useCreations(own)
  return [
    ...own.map((page) => ({
      title: page.title,
      kind: 'Go to',
      to: page.path,
      icon: page.icon,
      run: () => void navigate({ to: page.path as never }),
    })),
    ...creations,
    ...THEMES.map((theme) => ({
      title: `Use the ${theme} theme`,
      kind: 'Theme',
      icon: THEME_ICONS[theme],
      run: () => applyTheme(theme),
    })),
    { title: 'Show the keyboard shortcuts', kind: 'Help', run: showKeys },
    { title: 'Open the documentation', kind: 'Help', run: () => void window.open('/docs', '_blank', 'noopener') },
    { title: 'Sign out', kind: 'Session', icon: <LeaveIcon />, run: signOut },
  ]
}

export function Shell() {
  const session = useSession()
  const { pathname } = useLocation()
  const own = pages.filter((page) => page.isFor(session))
  // A page that is not for the session would only collect refusals, and a 401 among them would end the session.
  const isShown = useMatches({ select: (matches) => pageOf(matches.at(-1)!.fullPath)?.isFor(session) ?? true })
  const menu = usePhoneMenu(pathname)
  const [paletteIsOpen, setPalette] = useState(false)
  const [sheetIsOpen, setSheet] = useState(false)
  const commands = useCommands(own, () => setSheet(true))
  useShortcut('?', 'Show this sheet', () => setSheet(true))
  useEffect(() => listenForShortcuts(), [])
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (!(event.metaKey || event.ctrlKey) || event.key.toLowerCase() !== 'k') return
      event.preventDefault()
      if (paletteIsOpen || !dialogIsOpen()) setPalette(!paletteIsOpen)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [paletteIsOpen])

  const finder = (
    <button type="button" className="finder" onClick={() => setPalette(true)}>
      <SearchIcon /> Find or do <kbd>{PALETTE_KEYS}</kbd>
    </button>
  )
  return (
    <div className={menu.isOpen ? 'shell menu-open' : 'shell'}>
      <header className="phone-bar">
        <button
          ref={menu.button}
          type="button"
          className="button bare icon menu-button"
          aria-label="Menu"
          aria-expanded={menu.isOpen}
          onClick={menu.open}
        >
          <MenuIcon />
        </button>
        <span className="brand">
          <Mark /> Sensorium
        </span>
        <button
          type="button"
          className="button bare icon menu-button"
          aria-label="Find or do"
          onClick={() => setPalette(true)}
        >
          <SearchIcon />
        </button>
      </header>
      <button type="button" className="side-veil" aria-label="Close the menu" onClick={menu.close} />
      <section className="side" aria-label="Console">
        <Link to="/" className="brand">
          <Mark /> Sensorium
        </Link>
        {finder}
        <nav aria-label="Pages">
          {own.map((page) => (
            <PageLink key={page.path} page={page} />
          ))}
        </nav>
        <Who />
      </section>
      <div className="stage" inert={menu.isOpen}>
        <AwayBanner />
        <main>{isShown ? <Outlet /> : <NotFound />}</main>
      </div>
      {paletteIsOpen ? <Palette commands={commands} onClose={() => setPalette(false)} /> : null}
      {sheetIsOpen ? <ShortcutSheet onClose={() => setSheet(false)} /> : null}
    </div>
  )
}
