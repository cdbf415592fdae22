import { Loading } from '../components/states.tsx'

/** Shown in place of the previous page when the next one takes long to load: the navigation shows the next already. */
export function PagePending() {
  return (
    <div className="page">
      <Loading lines={8} />
    </div>
  )
}
