//! `weir serve`.

use anyhow::Context;
use weir_serve::{ServeOptions, Server, Token};

use crate::cli::ServeArguments;
use crate::{Outcome, interrupt};

pub(crate) fn execute(arguments: &ServeArguments) -> anyhow::Result<Outcome> {
    let stop = interrupt::stop_flag()?;
    let token = arguments.token_file.as_deref().map(Token::from_file);
    let server = Server::bind(ServeOptions {
        results: arguments.dir.clone(),
        studies: arguments.studies.clone(),
        weir: std::env::current_exe().context("cannot find the weir program itself")?,
        listen: arguments.listen,
        token: token.transpose()?,
        host_names: arguments.host_name.clone(),
    })?;
    eprintln!(
        "serving {} on http://{}/",
        arguments.dir.display(),
        server.address()
    );
    if let Some(token) = server.generated_token() {
        eprintln!(
            "token: {} (others can reach this address, without encryption)",
            token.reveal()
        );
    }
    eprintln!("Ctrl-C ends it, and stops a study that was started in it");
    server.run(stop)?;
    Ok(Outcome::Done)
}
