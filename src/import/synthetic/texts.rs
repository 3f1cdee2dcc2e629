//! What people say, topic by topic, each in its language.
//!
//! Short sentences that stand alone, so that any of them may follow any other. All of them were
//! written for this module.

/// The words of a topic.
#[derive(Debug)]
pub(super) struct Voice {
    /// What begins a branch.
    pub(super) openers: &'static [&'static str],
    /// What answers somebody.
    pub(super) replies: &'static [&'static str],
    /// What may follow either.
    pub(super) asides: &'static [&'static str],
    /// Whole comments in Markdown.
    pub(super) rich: &'static [&'static str],
    /// What stands between two sentences of the language.
    pub(super) between: &'static str,
}

const ENGLISH_ASIDES: &[&str] = &[
    "Just my two cents.",
    "I may be wrong, of course.",
    "Thanks for bringing it up!",
    "More on that tomorrow.",
    "It made my day 🙂",
    "My neighbour says the same.",
    "I did not expect that.",
    "Curious what the others think.",
];

pub(super) const HELLO: Voice = Voice {
    openers: &[
        "Hello from Lisbon! The new comments load fast here.",
        "Good to see discussions back on this blog.",
        "How do I find what I wrote last year?",
        "I was against threads, but this is easy to follow.",
        "Can I still read everything in the order it was written?",
        "The page works well on my old phone.",
        "Who else reads the comments before the article?",
        "Is there a way to link to one comment?",
        "I like that a deleted comment leaves a gap instead of chaos.",
        "Please keep the plain list for those of us who scroll.",
        "Works in my screen reader, thank you!",
        "First time here. Be gentle 👋",
        "The times are shown in my time zone. Nice touch.",
        "One small wish: a darker theme for the evening.",
        "Congratulations to everybody who worked on this.",
    ],
    replies: &[
        "Same here, it feels quicker than before.",
        "You can, open your profile and look under comments.",
        "I disagree a little, the old list had its charm.",
        "The list is still there, threads are just one way to read.",
        "Welcome! You will like it.",
        "Good question, I was about to ask that.",
        "I tried it on a train with bad reception, and it held up.",
        "Click on the date, that is the link.",
        "That took me a minute to find as well.",
        "Agreed. Fewer clicks, more reading.",
        "Could you say more about that?",
        "It worked for me after a reload.",
    ],
    asides: ENGLISH_ASIDES,
    rich: &[
        "A tip: write **bold** with two stars and *slanted* with one.",
        "What I checked:\n\n- reading in order\n- reading in threads\n- writing on a phone",
        "> The page works well\n\nIt does, and `Tab` moves through it in a sensible order.",
        "The first note about it is [here](https://blog.example.com/hello).",
    ],
    between: " ",
};

pub(super) const BREAD: Voice = Voice {
    openers: &[
        "A plain rye, every week, and I never tire of it.",
        "Tell me your favourite, and I will bake it next Sunday!",
        "Flatbread in a pan. No oven, no waiting.",
        "My sourdough came out flat again. What am I doing wrong?",
    ],
    replies: &[
        "Try a little less water.",
        "Let it rest overnight in the fridge.",
        "Walnut bread, without a doubt.",
        "Fold it every half hour instead of kneading.",
        "Your starter may be hungry, feed it twice.",
        "A hot pot with a lid works better than any stone.",
        "Olive oil and rosemary, still warm.",
        "Mine needs ten minutes more than any recipe says.",
        "Spelt is kinder to beginners.",
        "Caraway seeds make all the difference.",
        "I use the leftover dough for pizza.",
        "The smell alone is worth it.",
        "Weigh the flour, cups lie.",
        "Seeds on top, always.",
    ],
    asides: ENGLISH_ASIDES,
    rich: &[
        "My numbers:\n\n| what | grams |\n| --- | --- |\n| flour | 500 |\n| water | 340 |\n| salt | 10 |",
        "1. mix\n2. wait\n3. fold\n4. wait **longer**\n5. bake",
        "Turn the oven to `240 °C` first, then down to `200 °C`.",
    ],
    between: " ",
};

pub(super) const HARBOUR: Voice = Voice {
    openers: &[
        "What a morning! 🌫️⛵",
        "I can almost hear the horn 📯",
        "Is that the red boat from last winter? 🚤",
        "👏👏👏",
        "Which lens was that? 🔭",
        "My grandfather fished there 🎣",
        "More fog, please 😍",
    ],
    replies: &[
        "It is! She still leaks a little 😅",
        "Shot at 7:12, just before the sun came through ☀️",
        "👍🏽",
        "The gulls were louder than the horn 🐦",
        "A 50 mm, nothing fancy 📷",
        "I would hang that on my wall 🖼️",
        "Cold fingers, warm heart ❤️",
        "👨‍👩‍👧‍👦 We stood on the pier that day!",
    ],
    asides: &[
        "🌊",
        "🙌",
        "Lovely 💙",
        "See you there next week 🚶🏾‍♀️",
        "🇳🇴🇵🇹",
    ],
    rich: &[
        "**Left**: the old crane. **Right**: nothing but fog 🌁",
        "The series so far is [here](https://blog.example.com/photos) 📚",
    ],
    between: " ",
};

pub(super) const OLD_SITE: Voice = Voice {
    openers: &["The redirects still work after all this time. Well done."],
    replies: &["They do, and we check them every night."],
    asides: ENGLISH_ASIDES,
    rich: &["The list of old addresses is [public](https://blog.example.com/2025/old-site)."],
    between: " ",
};

pub(super) const KNIGA: Voice = Voice {
    openers: &[
        "Начинаю: называйте книгу на последнюю букву предыдущей!",
        "Перечитываю сказки вместе с дочкой.",
        "Толстый роман про море, дочитал за три ночи.",
        "Зимой читаю только стихи.",
        "Посоветуйте что-нибудь короткое и весёлое.",
    ],
    replies: &[
        "Хороший выбор, я бы добавил второй том.",
        "А мне конец показался слишком грустным.",
        "Записала, спасибо!",
        "Эту ещё не читал, иду в библиотеку.",
        "У нас её проходили в школе.",
        "Лучше слушать, чтец там замечательный.",
        "Согласна с каждым словом.",
        "Начало скучное, потом не оторваться.",
        "Мы обсуждали её в книжном клубе.",
        "Берите издание с картинками.",
    ],
    asides: &[
        "Хотя это дело вкуса.",
        "Читала под пледом и с чаем.",
        "Жду продолжения!",
        "Кот тоже одобрил.",
        "Напишите потом, как вам.",
        "Подробнее расскажу вечером.",
    ],
    rich: &[
        "Мой список:\n\n1. сказки\n2. письма\n3. **дневники**",
        "> А мне конец показался слишком грустным\n\nИменно поэтому книга и *хороша*.",
    ],
    between: " ",
};

pub(super) const BALCON: Voice = Voice {
    openers: &[
        "El helecho de mi abuela vive sin un rayo de sol.",
        "Aquí solo sobreviven las hiedras.",
        "¿Alguien ha probado con menta?",
        "Las begonias, sin duda.",
        "Yo me rendí y puse un banco para leer.",
        "¿Cada cuánto regáis en invierno?",
    ],
    replies: &[
        "La mía se secó en una semana.",
        "Riega menos y con agua tibia.",
        "¡Qué buena idea!",
        "Depende del viento más que del sol.",
        "En mi calle crece hasta en las grietas.",
        "Prueba con una maceta más grande.",
        "Yo la pondría cerca de la pared.",
        "¿Tienes una foto?",
        "Con tres horas de luz le basta.",
    ],
    asides: &[
        "Al menos en mi barrio.",
        "¡Suerte!",
        "Mi vecina hace lo mismo.",
        "Ya contarás qué tal.",
        "Y huele de maravilla.",
        "No soy experta, eso sí.",
    ],
    rich: &[
        "Lo que me funciona:\n\n- **helechos**\n- hiedra\n- *paciencia*",
        "Hay una guía [aquí](https://blog.example.com/es/balcon).",
    ],
    between: " ",
};

pub(super) const NACHTZUG: Voice = Voice {
    openers: &[
        "Einsteigen, schlafen, in Wien frühstücken: für mich unschlagbar.",
        "Im Sitzwagen würde ich es nicht noch einmal machen.",
        "Weiß jemand, ob Fahrräder mitdürfen?",
        "Wir sind zu viert gefahren, die Kinder waren begeistert.",
        "Zwei Stunden Verspätung, aber der Kaffee war gut.",
        "Lieber früh buchen, die Abteile sind schnell weg.",
    ],
    replies: &[
        "Ohrstöpsel einpacken, dann geht es.",
        "Das obere Bett ist am ruhigsten.",
        "Bei uns war es pünktlich auf die Minute.",
        "Fahrräder nur mit Reservierung.",
        "Danke für den Hinweis!",
        "Schöner als jeder Flughafen.",
        "Kommt auf die Nachbarn an.",
        "Im Winter war es angenehm warm.",
        "Ich würde die Schlafkabine nehmen.",
    ],
    asides: &[
        "Nur meine Erfahrung.",
        "Gern wieder.",
        "Gute Reise!",
        "Das hängt vom Wagen ab.",
        "Müde war ich trotzdem.",
        "Mehr dazu später.",
    ],
    rich: &[
        "Packliste:\n\n- Ohrstöpsel\n- **Wasser**\n- dicke Socken",
        "Abfahrt `22:40`, Ankunft `08:05`. *Meistens.*",
    ],
    between: " ",
};

pub(super) const ASAGOHAN: Voice = Voice {
    openers: &[
        "うちは毎朝ごはんと味噌汁です。",
        "時間がないのでバナナだけ食べます。",
        "トーストに蜂蜜、これが一番。",
        "休みの日はホットケーキを焼きます。",
        "朝は食べずに、コーヒーだけです。",
        "みなさん、何時に起きていますか？",
    ],
    replies: &[
        "私もそうです！",
        "おいしそうですね。",
        "卵をのせるともっとおいしいですよ。",
        "明日やってみます。",
        "うちの子も大好きです。",
        "前の晩に作っておくと楽です。",
        "お昼までおなかがすきませんか？",
        "納豆もおすすめです。",
        "それは知りませんでした。",
    ],
    asides: &[
        "ありがとうございます。",
        "笑",
        "個人の感想です。",
        "寒い朝は特に。",
        "また教えてください。",
        "😊",
    ],
    rich: &[
        "今週の朝ごはん：\n\n- 月曜日：**おにぎり**\n- 火曜日：パン\n- 水曜日：おかゆ",
        "作り方は[ここ](https://blog.example.com/ja/asagohan)に書きました。",
    ],
    between: "",
};

pub(super) const ALMASHY: Voice = Voice {
    openers: &[
        "بعد الفجر مباشرة، والشوارع هادئة.",
        "أمشي مساءً مع أختي حول الحديقة.",
        "في الصيف لا أخرج قبل الغروب.",
        "من يعرف طريقًا جميلًا قرب النهر؟",
        "نصف ساعة كل يوم غيّرت صحتي.",
        "المشي تحت المطر أجمل من كل شيء.",
    ],
    replies: &[
        "أوافقك تمامًا.",
        "جرّب الطريق خلف المكتبة.",
        "الهواء هناك أنقى بكثير.",
        "سأبدأ غدًا إن شاء الله.",
        "وهل المكان آمن في الليل؟",
        "خذ معك زجاجة ماء.",
        "شكرًا على النصيحة.",
        "أفضّل الصباح لأن الضجيج أقل.",
        "نلتقي هناك يوم الجمعة؟",
    ],
    asides: &[
        "هذا رأيي فقط.",
        "والقهوة بعدها ألذّ ☕",
        "كان يومًا رائعًا.",
        "أخبرنا كيف كان.",
        "لا تنسَ حذاءً مريحًا.",
        "بالتوفيق!",
    ],
    rich: &[
        "ما أحتاج إليه:\n\n- حذاء **مريح**\n- ماء\n- صديق",
        "الخريطة [هنا](https://blog.example.com/ar/walking)، والمسافة `4 km`.",
    ],
    between: " ",
};

pub(super) const HOREF: Voice = Voice {
    openers: &[
        "מרק כתום, עם הרבה ג׳ינג׳ר.",
        "אצלנו רק מרק עדשים של סבתא.",
        "מישהו ניסה מרק פטריות בלי שמנת?",
        "שלושה ימים של גשם, שלושה סירים של מרק.",
        "הילדים אוכלים רק עם שקדי מרק.",
        "מה עושים כשיצא מלוח מדי?",
    ],
    replies: &[
        "נשמע נהדר!",
        "תוסיפו תפוח אדמה, הוא סופג את המלח.",
        "אני שמה גם כמון.",
        "למחרת הוא עוד יותר טעים.",
        "אפשר להקפיא?",
        "כן, עד חודש בערך.",
        "אצלנו לא נשארה טיפה.",
        "תודה, הולך לנסות הערב.",
        "בלי לימון זה לא אותו דבר.",
    ],
    asides: &[
        "בתיאבון!",
        "לפחות לטעמי.",
        "ועם לחם חם.",
        "ספרו איך יצא.",
        "החתול ביקש תוספת.",
        "מומלץ בחום.",
    ],
    rich: &[
        "מה צריך:\n\n- עדשים **כתומות**\n- בצל\n- סבלנות",
        "המתכון המלא [כאן](https://blog.example.com/he/winter-soup), בערך `40` דקות.",
    ],
    between: " ",
};

pub(super) const VELO: Voice = Voice {
    openers: &[
        "Deux antivols, toujours, même pour cinq minutes.",
        "Je passe par les quais, c’est plus long mais plus calme.",
        "Quelqu’un a testé les pneus cloutés ?",
        "Mon vélo pliant dort sous le bureau.",
        "Où peut-on gonfler ses pneus gratuitement ?",
        "La pluie, on s’y fait. Le vent, jamais.",
    ],
    replies: &[
        "Bonne idée, merci !",
        "À la gare, il y a une pompe en libre service.",
        "Chez moi, c’est tout le contraire.",
        "Des garde-boue et le problème est réglé.",
        "Attention aux rails quand il pleut.",
        "Je fais pareil depuis dix ans.",
        "Et en hiver ?",
        "La piste est enfin terminée, essaie !",
        "Une bonne lampe change tout.",
    ],
    asides: &[
        "Enfin, c’est mon avis.",
        "Bonne route !",
        "À voir selon le quartier.",
        "Mes jambes confirment.",
        "On en reparle au printemps.",
        "Merci pour l’astuce.",
    ],
    rich: &[
        "Ma trousse :\n\n- une **chambre à air**\n- deux démonte-pneus\n- des gants",
        "Le plan des pistes est [ici](https://blog.example.com/fr/velo).",
    ],
    between: " ",
};

pub(super) const TRILHA: Voice = Voice {
    openers: &[
        "A da cachoeira, curta e quase toda na sombra.",
        "Comecei pela praia e fui subindo aos poucos.",
        "Alguém vai neste sábado?",
        "Levei meu pai de setenta anos, ele adorou.",
        "Qual tênis vocês usam?",
    ],
    replies: &[
        "Essa é linda depois da chuva.",
        "Leve bastante água.",
        "Cuidado com as pedras molhadas.",
        "Eu vou! Saímos às sete?",
        "A vista lá de cima compensa.",
        "Dá para ir com criança?",
        "Dá sim, fui com a minha.",
        "Boa dica, obrigado!",
        "Prefiro ir cedo, faz menos calor.",
    ],
    asides: &[
        "Pelo menos para mim.",
        "Boa caminhada!",
        "Depois conta como foi.",
        "Vale cada passo.",
        "E tem um café na volta.",
        "Saudades de lá.",
    ],
    rich: &[
        "Na mochila:\n\n1. água\n2. **protetor solar**\n3. um lanche",
        "O mapa está [aqui](https://blog.example.com/pt/trilhas); são `3 km`.",
    ],
    between: " ",
};
