// Exporting memories to a file and importing them from one.
import { Overlay } from '../../components/overlay.tsx'
import { useSession } from '../../session/session.ts'
import { ExportMemories } from './export.tsx'
import { ImportMemories } from './import.tsx'

export function Transfer({ onClose }: { onClose(): void }) {
  const { can } = useSession()
  return (
    <Overlay title="Export and import" kind="drawer" onClose={onClose}>
      <div className="stack transfer">
        <ExportMemories />
        {can('memory:write') ? <ImportMemories /> : null}
      </div>
    </Overlay>
  )
}
