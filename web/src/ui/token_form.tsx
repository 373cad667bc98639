import { useState } from "preact/hooks";

import { hasToken, setToken } from "../api";
import { useText } from "./settings";

/** The server wants a password. */
export function TokenForm({ retry }: { retry: () => void }) {
  const { shell: text } = useText();
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
