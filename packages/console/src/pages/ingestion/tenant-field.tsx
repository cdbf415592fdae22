import { Field } from '../../components/field.tsx'

interface TenantFieldProps {
  tenants: readonly string[]
  value: string
  problem: string | undefined
  onChange(slug: string): void
}

export function TenantField({ tenants, value, problem, onChange }: TenantFieldProps) {
  return (
    <Field label="Tenant" problem={problem}>
      <select required value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="" disabled>
          Choose one
        </option>
        {tenants.map((slug) => (
          <option key={slug}>{slug}</option>
        ))}
      </select>
    </Field>
  )
}
