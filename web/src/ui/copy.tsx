import { useState } from "preact/hooks";

import { useText } from "./settings";

async function toClipboard(text: string): Promise<void> {
  try {
    return await navigator.clipboard.writeText(text);
  } catch {
    copyAsBefore(text);
  }
}

/** Over plain HTTP from another machine browsers offer nothing newer than this. */
function copyAsBefore(text: string): void {
  const before = document.activeElement as HTMLElement | null;
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
  before?.focus();
}

/** A command line, and a button that copies it. */
export function Command({ line }: { line: string }) {
  const { shell } = useText();
  const [copied, setCopied] = useState("");
  const done = copied === line;
  return (
    <div class="command">
      <pre tabIndex={0}>
        <code>{line}</code>
      </pre>
      <button type="button" class="quiet" onClick={() => toClipboard(line).then(() => setCopied(line))}>
        <span aria-live="polite">{done ? shell.copied : shell.copy}</span>
      </button>
    </div>
  );
}
