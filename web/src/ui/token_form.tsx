import { useState } from "preact/hooks";

import { hasToken, setToken } from "../api";
import { useText } from "./settings";
import { WordForm } from "./word_form";

/** The server requires a password. */
export function TokenForm({ retry }: { retry: () => void }) {
  const { shell: text } = useText();
  const [typed, setTyped] = useState("");
  const [wrong] = useState(hasToken);
  const [tried, setTried] = useState(false);
  const submit = (): void => {
    setToken(typed);
    setTried(true);
    retry();
  };
  return (
    <section class="card token" aria-labelledby="token-title">
      <h2 id="token-title">{text.tokenTitle}</h2>
      <p>{text.tokenText}</p>
      <WordForm
        id="token"
        label={text.tokenLabel}
        button={text.tokenButton}
        value={typed}
        onInput={setTyped}
        submit={submit}
        disabled={typed === ""}
        password
      />
      <p class="wrong" role="alert">
        {(wrong || tried) && text.tokenWrong}
      </p>
    </section>
  );
}
