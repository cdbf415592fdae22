// Where this implementation differs from the official suite of CEL, on purpose.
import type { Case } from './support/conformance.ts'

/** Kinds of cases that are about features outside this implementation. */
export const LEFT_OUT: readonly { reason: string; applies(test: Case): boolean }[] = [
  {
    reason: 'Protobuf messages, their enums and wrappers: values here are JSON, and there are no messages.',
    applies: ({ id, source, original }) =>
      /^(?:proto2|proto3|proto2_ext|enums|wrappers|dynamic)\//.test(id) ||
      /TestAllTypes|google\.protobuf\.(?!Timestamp\b|Duration\b)\w+|\.\w+\s*\{/.test(source) ||
      JSON.stringify(original.bindings ?? null).includes('@type'),
  },
  {
    reason: 'The types that a checker deduces before an evaluation: there is no such checker.',
    applies: ({ id }) => id.startsWith('type_deductions/'),
  },
]

const RECEIVER_NAMES =
  'as break const continue else for function if import let loop package namespace return var void while'

/** Individual cases with another result, by reason. The test fails for a case that conforms after all. */
export const DEVIATIONS: Readonly<Record<string, readonly string[]>> = {
  'A name or function that does not exist is refused when the expression is compiled, not when it is evaluated.': [
    'basic/variables/unbound_is_runtime_error',
    'basic/functions/unbound_is_runtime_error',
    ...RECEIVER_NAMES.split(' ').map((name) => `parse/receiver_function_names/${name}`),
  ],
  'Integers and decimals compare by their exact values: 2^63 - 1 is less than 2^63, though the nearest double is not.':
    [
      'comparisons/lt_literal/not_lt_dyn_int_big_lossy_double',
      'comparisons/gt_literal/not_gt_dyn_big_double_int',
      'comparisons/lte_literal/lte_dyn_big_double_int',
      'comparisons/gte_literal/gte_dyn_int_big_lossy_double',
    ],
  'Names have no dots and there are no containers: `a.b` is a field of `a`.': [
    'fields/qualified_identifier_resolution/qualified_ident',
    'fields/qualified_identifier_resolution/map_field_select',
    'fields/qualified_identifier_resolution/qualified_identifier_resolution_unchecked',
    'fields/qualified_identifier_resolution/ident_with_longest_prefix_check',
    'namespace/qualified/self_eval_qualified_lookup',
    'namespace/namespace/self_eval_container_lookup',
    'namespace/namespace/self_eval_container_lookup_unchecked',
  ],
  'Integers and decimals calculate with each other, so both take every operator and both can be rounded.': [
    'fp_math/fp_math/mod_not_support',
    'math_ext/ceil/dyn_error',
    'math_ext/floor/dyn_error',
    'math_ext/round/dyn_error',
    'math_ext/trunc/dyn_error',
  ],
}
