import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './styles/tokens.css'
import './styles/base.css'
import './styles/components.css'
import './styles/forms.css'
import './styles/table.css'
import './styles/overlays.css'
import './styles/shell.css'
import './styles/forced-colors.css'
import { App } from './app.tsx'
import { listenForCutTexts } from './shell/cut-texts.ts'
import { listenForHeldEnter } from './shell/held-enter.ts'
import { applyTheme } from './shell/theme.ts'
import { withRandomIds } from './session/random-ids.ts'

withRandomIds()
listenForCutTexts()
listenForHeldEnter()
applyTheme()
createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <App />
  </StrictMode>,
)
