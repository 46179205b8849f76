/** What deliveries have beyond the event and its `v1` signature. */
export interface DeliveryOptions {
  readonly publicKeySignature: boolean;
  readonly includeExtracts: boolean;
}

export function DeliveryOptionFields({
  options,
  onChange,
}: {
  readonly options: DeliveryOptions;
  readonly onChange: (options: DeliveryOptions) => void;
}) {
  return (
    <fieldset className="grid gap-2">
      <legend className="contents">
        <span className="font-medium">Deliveries</span>
      </legend>
      <ul className="grid rounded-lg border border-line">
        {OPTIONS.map(({ name, label, hint }) => (
          <li key={name} className="border-t border-line first:border-t-0">
            <label className="flex items-start gap-3 px-3 py-2 max-sm:min-h-11">
              <input
                type="checkbox"
                className="mt-0.5 size-4 shrink-0 accent-accent"
                checked={options[name]}
                onChange={(event) => onChange({ ...options, [name]: event.target.checked })}
              />
              <span>
                <span className="block">{label}</span>
                <span className="block text-muted">{hint}</span>
              </span>
            </label>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}

const OPTIONS: readonly { name: keyof DeliveryOptions; label: string; hint: string }[] = [
  {
    name: 'publicKeySignature',
    label: 'Add a public key signature (v1a)',
    hint: 'Your server verifies it with a public key and needs no secret.',
  },
  {
    name: 'includeExtracts',
    label: 'Send codes and links of received mail',
    hint: 'Anybody who sees a delivery, here or in the logs of your server, can use its codes.',
  },
];
