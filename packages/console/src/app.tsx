// Shows the sign-in form or, once signed in, the console. Everything that belongs to a session is created and dropped
// with it: the client, the cached responses, the live stream.
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'
import { makeFailureHandler } from './api/failure-handler.ts'
import { LiveContext } from './api/live.ts'
import { makeLiveStore } from './api/live-store.ts'
import { makeQueryClient } from './api/query-client.ts'
import { makeRouter } from './router.tsx'
import { SessionContext, type Session } from './session/session.ts'
import { SignIn } from './session/sign-in.tsx'
import { dismissFailures } from './shell/toast-store.ts'
import { Toasts } from './shell/toasts.tsx'

const router = makeRouter()

export function App() {
  const [session, setSession] = useState<Session | null>(null)
  const [notice, setNotice] = useState<string | null>(null)
  const begun = useRef(0)
  const signedIn = useMemo(() => {
    if (session === null) return null
    const own = begun.current
    // A request may end after its session, and says nothing about the next one.
    let hasLeft = false
    const leave = (why: string | null): void => {
      if (hasLeft) return
      hasLeft = true
      setNotice(why)
      setSession(null)
    }
    const signOut = (): void => {
      dismissFailures()
      leave(null)
    }
    const failed = makeFailureHandler(() => leave('You were signed out: the key was revoked or has expired.'))
    return {
      queries: makeQueryClient(failed),
      live: makeLiveStore(session.client, failed),
      state: { session, isOver: () => begun.current !== own, signOut, failed },
    }
  }, [session])

  // Again, because what fails when the key is revoked is shown after that, above the form.
  function signIn(next: Session): void {
    dismissFailures()
    begun.current++
    setSession(next)
  }

  if (signedIn === null)
    return (
      <>
        <SignIn key={notice} notice={notice} onSignIn={signIn} />
        <Toasts />
      </>
    )
  return (
    <SessionContext value={signedIn.state}>
      <QueryClientProvider client={signedIn.queries}>
        <LiveContext value={signedIn.live}>
          <RouterProvider router={router} />
        </LiveContext>
        <Toasts />
      </QueryClientProvider>
    </SessionContext>
  )
}
