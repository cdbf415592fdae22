// A field for a number from 0 to 1, which its label shows.
import { Field } from '../../components/field.tsx'

interface ShareFieldProps {
  label: string
  hint?: string
  problem: string | undefined
  value: number
  onChange(value: number): void
}

export function ShareField({ label, value, onChange, ...field }: ShareFieldProps) {
  return (
    <Field label={`${label} ${value.toFixed(2)}`} {...field}>
      <input
        className="range"
        type="range"
        min="0"
        max="1"
        step="0.05"
        value={value}
        onChange={(event) => onChange(Number(event.target.value))}
      />
    </Field>
  )
}
