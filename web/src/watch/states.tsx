import { useState } from "preact/hooks";

import { hasToken, setToken } from "../api";
import { Command } from "../ui/copy";
import { useText } from "../ui/settings";

/** The server wants a password. */
export function TokenForm({ retry }: { retry: () => void }) {
  const { watch: text } = useText();
  const [typed, setTyped] = useState("");
  const [wrong] = useState(hasToken);
  const [tried, setTried] = useState(false);
  return (
    <form
      class="card token word-form"
      onSubmit={(event) => {
        event.preventDefault();
        setToken(typed);
        setTried(true);
        retry();
      }}
    >
      <h2>{text.tokenTitle}</h2>
      <p>{text.tokenText}</p>
      <label for="token">{text.tokenLabel}</label>
      <div class="joined">
        <input
          id="token"
          type="password"
          autocomplete="current-password"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button type="submit" disabled={typed === ""}>
          {text.tokenButton}
        </button>
      </div>
      <p class="wrong" role="alert">
        {(wrong || tried) && text.tokenWrong}
      </p>
    </form>
  );
}

/** No filter yet: how to make one, at this very address. */
export function EmptyState() {
  const { watch: text } = useText();
  const body = JSON.stringify({ name: "clicks", capacity: 1000000, error_rate: 1e-6 });
  const token = hasToken() ? " -H 'Authorization: Bearer PASSWORD'" : "";
  return (
    <section class="card empty" aria-labelledby="empty">
      <h2 id="empty">{text.emptyTitle}</h2>
      <p>{text.emptyText}</p>
      <Command line={`curl${token} -H 'Content-Type: application/json' -d '${body}' ${location.origin}/api/v1/filters`} />
      <p>{text.emptyThen}</p>
      <Command line="redis-cli -p 6380 BF.RESERVE clicks 0.000001 1000000" />
    </section>
  );
}
