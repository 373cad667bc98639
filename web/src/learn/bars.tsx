interface Bar {
  name: string;
  value: number;
  strong?: boolean;
}

interface BarsProps {
  title: string;
  rows: readonly Bar[];
  format: (value: number) => string;
}

/** A few amounts side by side, as a table whose cells are also bars. */
export function Bars({ title, rows, format }: BarsProps) {
  const most = Math.max(...rows.map((row) => row.value));
  return (
    <table class="bars">
      <caption>{title}</caption>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name} class={row.strong ? "strong" : ""}>
            <th scope="row">{row.name}</th>
            <td>
              <i aria-hidden="true" style={{ "--share": `${Math.max(0.6, (row.value / most) * 100)}%` }} />
              <span>{format(row.value)}</span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
